import type { Circumstances, Notification } from "@owed/ledger";
import { expect, test } from "vitest";
import { answers } from "./answer.ts";
import { at, delivered, nothing, now, row, say, tried } from "./answer-testing.ts";

const circumstances: Circumstances = {
  merchantId: "shop-1",
  mode: "owed",
  events: [
    { id: "E-1", status: "customs_hold", occurredAt: at("09:00:00") },
    { id: "E-2", status: "out_for_delivery", occurredAt: at("11:27:44") },
  ],
  subscribers: [
    { recipientId: "buyer-1", role: "buyer", channel: "email", optedOutAt: at("10:00:00") },
    { recipientId: "buyer-1", role: "buyer", channel: "sms", optedOutAt: null },
  ],
  suppressions: [
    { id: "17", cause: "opted_out", at: at("10:30:00") },
    { id: "18", cause: "bounced", at: at("10:31:00") },
  ],
  claims: [{ id: "n-2", at: at("09:05:00") }],
};

test.each<[Partial<Notification>, string]>([
  [
    { reason: "superseded", cancelledBy: "event E-2" },
    "the shipment was out_for_delivery by 2026-03-29T11:27:44.000Z (event E-2), which was told by email at 2026-03-29T11:28:01.000Z",
  ],
  [{ reason: "superseded", cancelledBy: "event E-9" }, "a newer status made it untrue (event E-9)"],
  [{ reason: "opted_out", cancelledBy: "recipient" }, "the recipient opted out at 2026-03-29T10:00:00.000Z"],
  [
    { reason: "opted_out", cancelledBy: "suppression 17" },
    "the recipient opted out at 2026-03-29T10:30:00.000Z (suppression 17)",
  ],
  [
    { reason: "suppressed", cancelledBy: "suppression 18" },
    "its address was suppressed at 2026-03-29T10:31:00.000Z, after a message to it bounced for good (suppression 18)",
  ],
])("%j says by what and when, whether it was cancelled or a claim would", (changes, why) => {
  const newer = delivered({ id: "n-9", eventId: "E-2", deliveredAt: at("11:28:01") });
  const cancelled = row({ state: "cancelled", owedAt: null, ...changes });
  const grounds = { ...nothing, circumstances };
  expect(say([cancelled, newer], grounds)[0]).toContain(`the email was not sent, since ${why}.`);
  const moot = new Map([["n-1", { reason: changes.reason ?? "", by: changes.cancelledBy ?? "" }]]);
  for (const state of ["pending", "leased", "queued"] as const) {
    const [first] = answers([row({ state, queuedAt: at("09:00:30") }), newer], { ...grounds, moot }, now);
    expect(first?.answer).toBe("no");
    expect(first?.sentence).toMatch(/^No, buyer-1 was not notified/);
    expect(first?.sentence).toContain(`the email will not be sent, since ${why}.`);
  }
});

test("tries that failed while it waits, since somebody owed it anew", () => {
  const { tries } = tried("failed", { reason: "ENOTFOUND: the request was not written" });
  const [failed] = tries.get("n-1") ?? [];
  if (!failed) throw new Error("no try");
  const grounds = { ...nothing, tries: new Map([["n-1", [failed, { ...failed, at: at("09:03:00") }]]]) };
  const failedTwice =
    ", and 2 tries failed, the last at 2026-03-29T09:03:00.000Z (ENOTFOUND: the request was not written).";
  expect(say([row({ state: "queued", queuedAt: at("09:00:30"), attempts: 2 })], grounds)[0]).toContain(
    `the email has been in the queue since 2026-03-29T09:00:30.000Z${failedTwice}`,
  );
  expect(say([row({ attempts: 2 })], grounds)[0]).toContain(failedTwice);
  const anew = { ...failed, kind: "replayed" };
  expect(say([row({})], { ...nothing, tries: new Map([["n-1", [failed, anew]]]) })[0]).not.toContain(
    "failed",
  );
});

test.each<[Circumstances["mode"], string, string]>([
  ["old", "n-1", "the email is for the old sender to send, and was due at 2026-03-29T09:00:01.000Z."],
  [
    "shadow",
    "n-2",
    "the email is for the old sender to send, which claimed it at 2026-03-29T09:05:00.000Z and has not said that it sent it, while Owed is watched beside it, and was due at 2026-03-29T09:00:01.000Z.",
  ],
  [
    "owed",
    "n-2",
    "the email is left to the old sender, which claimed it at 2026-03-29T09:05:00.000Z and has not said that it sent it, although Owed sends for the merchant now, and was due at 2026-03-29T09:00:01.000Z; run 'owed cutover' again for what is left.",
  ],
])("what the old sender is to send, of a merchant in mode %s", (mode, id, sentence) => {
  const grounds = { ...nothing, circumstances: { ...circumstances, mode } };
  expect(say([row({ id, mode: "shadow" })], grounds)[0]).toContain(sentence);
});
