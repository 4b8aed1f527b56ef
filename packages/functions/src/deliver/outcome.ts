import type { SendResult } from "@owed/channel";
import type { DeliveryOutcome } from "@owed/ledger";
import { acknowledge, type Disposal, failAfter } from "../sqs-batch.ts";

/** Seconds until a transient failure is tried again, by receive: within the message's own five receives. */
const transientWaits = [5, 20, 60, 120];

/** Seconds that a throttled row waits at least, and at most, when the provider does not say. */
const throttledWaits = {
  rate: [5, 65],
  quota: [900, 1800],
  account: [300, 600],
  recipient: [30, 60],
} as const;

/** Seconds that a row waits at least, and at most, that met a provider which is down. */
const downWaits = [30, 60] as const;

export type Met = {
  /** How often the message was received, this time included. */
  receives: number;
  lastReceive: number;
  /** The provider is down for everybody. */
  down: boolean;
};

export type Decision = { outcome: DeliveryOutcome; disposal: Disposal };

/**
 * What the provider's answer means for the row and for its message (docs/states.md, transitions 5, 7, 8 and 10
 * to 12). A throttled row goes back to the ledger and costs no attempt: throttling never leads to the DLQ, and nor
 * does a provider that is down.
 */
export function decide(
  result: SendResult,
  { receives, lastReceive, down }: Met,
  random = Math.random,
): Decision {
  switch (result.outcome) {
    case "accepted": {
      const { provider, providerMessageId } = result;
      return { outcome: { kind: "accepted", provider, providerMessageId }, disposal: acknowledge };
    }
    case "refused":
      return { outcome: { kind: "refused", reason: result.reason }, disposal: failAfter(0) };
    case "throttled":
      return backToTheLedger(result, throttledWaits[result.scope], result.retryAfterSeconds, random);
    case "unknown":
      return { outcome: { kind: "unknown", reason: result.reason }, disposal: acknowledge };
    case "transient": {
      if (down) return backToTheLedger(result, downWaits, null, random);
      if (receives >= lastReceive)
        return { outcome: { kind: "exhausted", reason: result.reason }, disposal: failAfter(0) };
      const wait = transientWaits[receives - 1] ?? 120;
      return { outcome: { kind: "transient", reason: result.reason }, disposal: failAfter(wait) };
    }
  }
}

function backToTheLedger(
  { reason }: { reason: string },
  [least, most]: readonly [number, number],
  retryAfter: number | null,
  random: () => number,
): Decision {
  // Full jitter on top of what is asked for, so that the throttled do not come back together.
  const wait = (retryAfter ?? least) + random() * (most - least);
  return { outcome: { kind: "throttled", reason, wait }, disposal: acknowledge };
}
