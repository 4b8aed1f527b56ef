import { describe, expect, test } from "vitest";
import { type AtKill, type Fate, fateOf, type Moment, momentOf, tabulate } from "./classify.ts";

type Seen = Omit<AtKill, "row"> & AtKill["row"];
const fresh: Seen = { state: "queued", attempts: 0, called: false, accepted: false, emails: 0 };
const claimed: Seen = { ...fresh, state: "sending", attempts: 1 };

describe("where the kill met it", () => {
  test.each<[Moment, Seen]>([
    ["before the claim", fresh],
    ["claimed, provider not called", claimed],
    ["during the call", { ...claimed, called: true, emails: 1 }],
    ["during the call", { ...claimed, emails: 1 }],
    ["accepted, not recorded", { ...claimed, called: true, accepted: true, emails: 1 }],
    ["recorded", { ...claimed, state: "delivered", called: true, accepted: true, emails: 1 }],
  ])("%s: %j", (moment, { state, attempts, ...seen }) => {
    expect(momentOf({ row: { state, attempts }, ...seen })).toBe(moment);
  });
});

const delivered = { state: "delivered", resends: 0, evidence: "reply", wasUnknown: false } as const;

describe("what became of it", () => {
  test.each<[Fate, Moment, Parameters<typeof fateOf>[1], number]>([
    ["nothing to do", "recorded", delivered, 1],
    ["sent by the next worker", "before the claim", delivered, 1],
    ["sent by the next worker", "before the claim", { ...delivered, evidence: "feedback" }, 1],
    ["proven before anyone missed it", "during the call", { ...delivered, evidence: "feedback" }, 1],
    [
      "unknown, then proven",
      "accepted, not recorded",
      { ...delivered, evidence: "feedback", wasUnknown: true },
      1,
    ],
    ["resent, sent once", "claimed, provider not called", { ...delivered, resends: 1 }, 1],
    ["resent, a counted duplicate", "during the call", { ...delivered, resends: 1 }, 2],
    ["an uncounted duplicate", "recorded", delivered, 2],
    ["an uncounted duplicate", "during the call", { ...delivered, resends: 1 }, 3],
    ["lost", "before the claim", delivered, 0],
    ["lost", "before the claim", { ...delivered, state: "dead", evidence: null }, 0],
    ["not finished", "before the claim", { ...delivered, state: "unknown", evidence: null }, 0],
    ["not finished", "during the call", { ...delivered, state: "dead", evidence: null }, 1],
  ])("%s: killed %s, %j, %d emails", (fate, moment, row, emails) => {
    expect(fateOf(moment, row, emails)).toBe(fate);
  });
});

test("the table has a row for each moment, and a column for each fate that was met", () => {
  const { fates, rows } = tabulate([
    { moment: "recorded", fate: "nothing to do" },
    { moment: "recorded", fate: "nothing to do" },
    { moment: "during the call", fate: "unknown, then proven" },
  ]);
  expect(fates).toEqual(["nothing to do", "unknown, then proven"]);
  expect(rows.recorded).toEqual([2, 0]);
  expect(rows["during the call"]).toEqual([0, 1]);
  expect(rows["before the claim"]).toEqual([0, 0]);
});
