import type { SQSClient } from "@aws-sdk/client-sqs";
import { type Beginning, type Ledger, type Looked, lookAgain, lookAtQueued } from "@owed/ledger";
import type { Settings } from "../settings.ts";
import { askQueue } from "./ask-queue.ts";

export type Queues = {
  sqs: SQSClient;
  notificationQueueUrl: string;
  feedbackQueueUrl: string;
  onError?: (message: string, error: unknown) => void;
};

type Begun = Extract<Beginning, { taken: true }>;

type Waiting = Pick<Begun, "queuedOverdue" | "unknownDue" | "vanished" | "queueWasEmpty" | "settled"> & {
  /** A channel has rows due and may publish none: the ledger says that the queue is full. */
  full: boolean;
};

export type Asked = {
  queueEmpty: boolean | null;
  /** Rows wait for a look. */
  looks: boolean;
  /** The queue has nothing of what the ledger says it has, now and before: whoever is queued must be looked at. */
  purged: boolean;
  queued: "lost" | "look" | "skip";
  unknown: "look" | "skip";
};

/** More hidden messages than the consumer can have in flight are waiting for their next try. */
const feedbackInFlight = 20;

/**
 * Asks the queues only when the ledger has rows whose fate they may tell. A queue that does not answer proves
 * nothing, and stops nobody's publishing.
 */
export async function ask(
  { sqs, notificationQueueUrl, feedbackQueueUrl, onError }: Queues,
  { queuedOverdue, unknownDue, vanished, queueWasEmpty, settled, full }: Waiting,
): Promise<Asked> {
  const looks = queuedOverdue || unknownDue || vanished;
  try {
    const [queue, feedback] = await Promise.all([
      queuedOverdue || full ? askQueue(sqs, notificationQueueUrl) : null,
      unknownDue && settled ? askQueue(sqs, feedbackQueueUrl) : null,
    ]);
    const queueEmpty = queue && queue.total === 0;
    const evidenceIsIn = feedback && feedback.waiting === 0 && feedback.total <= feedbackInFlight;
    return {
      queueEmpty,
      looks,
      purged: full && queueEmpty === true && queueWasEmpty,
      // Empty now and before: the messages are gone. Empty for the first time: the counts may lag, look again.
      queued: !queueEmpty ? "look" : queueWasEmpty ? "lost" : "skip",
      unknown: evidenceIsIn ? "look" : "skip",
    };
  } catch (error) {
    onError?.("a queue did not say how many messages it holds", error);
    return { queueEmpty: null, looks, purged: false, queued: "look", unknown: "skip" };
  }
}

export type LookedAt = Omit<Looked, "taken">;

/** Moves the rows that wait for a look, and counts what became of them. Some may be due now. */
export async function look(
  ledger: Ledger,
  settings: Settings,
  { looks, purged, queued, unknown }: Asked,
  inTime: () => boolean,
): Promise<LookedAt> {
  // The next beat decides: the queue must say so once more.
  if (purged && !looks) await lookAtQueued(ledger);
  const counts: LookedAt = { rescued: 0, unknown: 0, resent: 0, held: 0, lost: 0 };
  const options = { limit: settings.sweep.slice, queued, unknown };
  while (looks) {
    const { taken, ...slice } = await lookAgain(ledger, settings.durations, options);
    for (const name of ["rescued", "unknown", "resent", "held", "lost"] as const) counts[name] += slice[name];
    if (taken < settings.sweep.slice || !inTime()) break;
  }
  return counts;
}
