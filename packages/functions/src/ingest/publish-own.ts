import type { SQSClient } from "@aws-sdk/client-sqs";
import { type Ledger, leaseOwn, markQueued } from "@owed/ledger";
import { publish } from "../publish/publish.ts";
import type { Settings } from "../settings.ts";
import { reached } from "../step.ts";

export type PublishOwn = {
  ledger: Ledger;
  sqs: SQSClient;
  notificationQueueUrl: string;
  settings: Settings;
  /** Seconds this invocation may still run. */
  remaining: () => number;
  onError: (message: string, error: unknown) => void;
};

export type PublishedOwn = {
  /** SQS accepted these. */
  published: number;
  /** Rows that SQS refused, or did not answer for; and one for each error of the ledger's. */
  failed: number;
};

/** SendMessageBatch calls in flight. A batch of ten events owes a few hundred rows at most. */
export const lanesAtOnce = 4;

/** Seconds that a call may take: three tries of five. */
const forCall = 15;

/** The lease before it takes ten at most. A ledger that recorded so slowly that less is left has enough to do. */
const forAll = forCall + 10;

/**
 * Publishes what these events, recorded just now, owe at once, as a sweep would. It only saves waiting for one: whatever
 * goes wrong is told and counted, never thrown, and the next sweep does the rest, after the lease where it is not known
 * what became of a row.
 */
export async function publishOwn(context: PublishOwn, events: readonly string[]): Promise<PublishedOwn> {
  const { ledger, sqs, settings, remaining, onError } = context;
  const { durations, sweep } = settings;
  const counts = { published: 0, failed: 0 };
  if (!settings.ingest.atOnce || events.length === 0 || remaining() < forAll) return counts;
  try {
    const { every, queued } = sweep;
    const { leased } = await leaseOwn(ledger, durations, { events, every, queued });
    reached("ingest:leased");
    if (leased.length === 0) return counts;
    const done = await publish(leased, {
      stage: "ingest",
      sqs,
      queueUrl: context.notificationQueueUrl,
      lanes: lanesAtOnce,
      held: new Map(),
      lease: durations.lease,
      mayCall: () => remaining() > forCall,
    });
    counts.published = done.accepted.length;
    counts.failed = done.failed + done.unsure;
    if (done.refusal !== null)
      onError("the queue refused what is owed at once", new Error(`SQS answered ${done.refusal}`));
    // What did not get into the queue stays leased: until that has passed nothing newer of its group goes before it.
    await markQueued(ledger, durations, done.accepted);
    reached("ingest:marked");
  } catch (error) {
    counts.failed += 1;
    onError("what is owed at once is left to the next sweep", error);
  }
  return counts;
}
