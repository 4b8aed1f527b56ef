import type { SendResult, ThrottleScope } from "@owed/channel";
import { describe, expect, test } from "vitest";
import { decide, type Met } from "./outcome.ts";

const reason = "Code: why";
const transient: SendResult = { outcome: "transient", reason, answered: false };
const comesAgainIn = (visibility: number) => ({ acknowledge: false, visibility });
const acknowledged = { acknowledge: true };
const met = (receives: number, lastReceive = 5, down = false): Met => ({ receives, lastReceive, down });

test("accepted: recorded with the provider's id, acknowledged, on any receive", () => {
  const result: SendResult = { outcome: "accepted", provider: "ses", providerMessageId: "P-1" };
  for (const receives of [1, 5, 9])
    expect(decide(result, met(receives))).toEqual({
      outcome: { kind: "accepted", provider: "ses", providerMessageId: "P-1" },
      disposal: acknowledged,
    });
});

test("refused: dead, and its message goes to the dead-letter queue without a wait", () => {
  for (const receives of [1, 5])
    expect(decide({ outcome: "refused", reason, answered: true }, met(receives))).toEqual({
      outcome: { kind: "refused", reason },
      disposal: comesAgainIn(0),
    });
});

test("unknown: acknowledged, for the ledger waits for evidence, on the last receive as well", () => {
  for (const receives of [1, 5])
    expect(decide({ outcome: "unknown", reason }, met(receives))).toEqual({
      outcome: { kind: "unknown", reason },
      disposal: acknowledged,
    });
});

test.each([
  [1, 5],
  [2, 20],
  [3, 60],
  [4, 120],
])("transient on receive %i of five: comes again in %i s", (receives, wait) => {
  expect(decide(transient, met(receives))).toEqual({
    outcome: { kind: "transient", reason },
    disposal: comesAgainIn(wait),
  });
});

test.each([
  [5, 5],
  [6, 5],
  [2, 2],
])("transient on receive %i of %i: exhausted", (receives, last) => {
  expect(decide(transient, met(receives, last))).toEqual({
    outcome: { kind: "exhausted", reason },
    disposal: comesAgainIn(0),
  });
});

test("with more receives than waits the last wait stays", () => {
  expect(decide(transient, met(7, 20)).disposal).toEqual(comesAgainIn(120));
});

test.each([
  [1, 0, 30],
  [5, 0, 30],
  [5, 1, 60],
])(
  "transient on receive %i, the provider down, at %d of the jitter: back to the ledger for %d s",
  (receives, random, wait) => {
    expect(decide(transient, met(receives, 5, true), () => random)).toEqual({
      outcome: { kind: "throttled", reason, wait },
      disposal: acknowledged,
    });
  },
);

test("a provider that is down changes nothing for a row that it took, refused, or may have taken", () => {
  const results: SendResult[] = [
    { outcome: "accepted", provider: "ses", providerMessageId: "P-1" },
    { outcome: "refused", reason, answered: true },
    { outcome: "unknown", reason },
  ];
  for (const result of results)
    expect(decide(result, met(5, 5, true))).toEqual(decide(result, met(5, 5, false)));
});

describe("throttled", () => {
  const wait = (scope: ThrottleScope, retryAfterSeconds: number | null, random: number, receives = 1) =>
    decide({ outcome: "throttled", reason, retryAfterSeconds, scope }, met(receives), () => random);

  test.each([
    ["rate", null, 0, 5],
    ["rate", null, 1, 65],
    ["rate", 30, 0, 30],
    ["rate", 30, 1, 90],
    ["rate", 0, 0, 0],
    ["quota", null, 0, 900],
    ["quota", null, 1, 1800],
    ["quota", 3600, 0, 3600],
    ["account", null, 0, 300],
    ["account", null, 1, 600],
  ] as const)(
    "%s, retry after %j, at %d of the jitter: owed again in %d s",
    (scope, after, random, seconds) => {
      expect(wait(scope, after, random).outcome).toEqual({ kind: "throttled", reason, wait: seconds });
    },
  );

  test("is acknowledged and never exhausted, whatever the receive", () => {
    for (const receives of [1, 5, 100]) {
      const { outcome, disposal } = wait("rate", null, 0, receives);
      expect([outcome.kind, disposal]).toEqual(["throttled", acknowledged]);
    }
  });
});
