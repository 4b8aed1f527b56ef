import type { SendResult, ThrottleScope } from "@owed/channel";
import { describe, expect, test } from "vitest";
import { decide } from "./outcome.ts";

const reason = "Code: why";
const transient: SendResult = { outcome: "transient", reason };
const comesAgainIn = (visibility: number) => ({ acknowledge: false, visibility });
const acknowledged = { acknowledge: true };

test("accepted: recorded with the provider's id, acknowledged, on any receive", () => {
  const result: SendResult = { outcome: "accepted", provider: "ses", providerMessageId: "P-1" };
  for (const receives of [1, 5, 9])
    expect(decide(result, receives, 5)).toEqual({
      outcome: { kind: "accepted", provider: "ses", providerMessageId: "P-1" },
      disposal: acknowledged,
    });
});

test("refused: dead, and its message goes to the dead-letter queue without a wait", () => {
  for (const receives of [1, 5])
    expect(decide({ outcome: "refused", reason }, receives, 5)).toEqual({
      outcome: { kind: "refused", reason },
      disposal: comesAgainIn(0),
    });
});

test("unknown: acknowledged, for the ledger waits for evidence, on the last receive as well", () => {
  for (const receives of [1, 5])
    expect(decide({ outcome: "unknown", reason }, receives, 5)).toEqual({
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
  expect(decide(transient, receives, 5)).toEqual({
    outcome: { kind: "transient", reason },
    disposal: comesAgainIn(wait),
  });
});

test.each([
  [5, 5],
  [6, 5],
  [2, 2],
])("transient on receive %i of %i: exhausted", (receives, last) => {
  expect(decide(transient, receives, last)).toEqual({
    outcome: { kind: "exhausted", reason },
    disposal: comesAgainIn(0),
  });
});

test("with more receives than waits the last wait stays", () => {
  expect(decide(transient, 7, 20).disposal).toEqual(comesAgainIn(120));
});

describe("throttled", () => {
  const wait = (scope: ThrottleScope, retryAfterSeconds: number | null, random: number, receives = 1) =>
    decide({ outcome: "throttled", reason, retryAfterSeconds, scope }, receives, 5, () => random);

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
