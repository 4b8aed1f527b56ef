import type { Untold } from "@owed/ledger";
import { expect, test } from "vitest";
import { untoldText } from "./answer-untold.ts";

const untold = (changes: Partial<Untold> = {}): Untold => ({
  ...{ eventId: "E-1", status: "picked_up", role: "buyer", channel: "sms", why: "no_rule" },
  ...changes,
});

test("a line for each role, channel and reason, with the statuses", () => {
  expect(
    untoldText([untold(), untold({ eventId: "E-2", status: "returned" }), untold({ why: "nobody" })]),
  ).toEqual([
    "Nothing by sms to the buyer about picked_up, returned: no rule tells the buyer of it by sms.",
    "Nothing by sms to the buyer about picked_up: no buyer is subscribed by sms.",
  ]);
});

test.each<[Untold["why"], string, string]>([
  ["silent", "the merchant's own rule tells nobody", "the merchant's own rule tells nobody"],
  ["nobody", "no buyer is subscribed by sms", "buyer-1 is not subscribed by sms"],
  [
    "later",
    "nobody was subscribed by sms when it was recorded",
    "buyer-1 was subscribed by sms only after it was recorded",
  ],
])("%s, of anybody and of one recipient", (why, anybody, one) => {
  const said = "Nothing by sms to the buyer about picked_up: ";
  expect(untoldText([untold({ why })])).toEqual([`${said}${anybody}.`]);
  expect(untoldText([untold({ why })], "buyer-1")).toEqual([`${said}${one}.`]);
});
