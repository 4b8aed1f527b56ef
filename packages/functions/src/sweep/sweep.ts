import type { SQSClient } from "@aws-sdk/client-sqs";
import {
  abandonSweep,
  beginSweep,
  finishSweep,
  type Leased,
  type Ledger,
  lease,
  markQueued,
  release,
  type Slice,
} from "@owed/ledger";
import type { Settings } from "../settings.ts";
import { askQueue } from "./ask-queue.ts";
import { type Published, publish } from "./publish.ts";

export type Sweep = {
  ledger: Ledger;
  sqs: SQSClient;
  notificationQueueUrl: string;
  feedbackQueueUrl: string;
  settings: Settings;
  /** Seconds this invocation may still run. */
  remaining: () => number;
  onError?: (message: string, error: unknown) => void;
};

export type Summary =
  | { swept: false; why: "paused" | "held" }
  | {
      swept: true;
      leased: number;
      published: number;
      /** Refused by SQS and given back. */
      failed: number;
      /** Neither accepted nor refused: their leases run out. */
      unsure: number;
      /** Accepted, but claimed or leased by somebody else before the mark. */
      fenced: number;
      cancelled: number;
      rescued: number;
      unknown: number;
      resent: number;
      held: number;
      lost: number;
      slices: number;
      /** Due and not in the queue when the sweep ended, and the age of the oldest of them in seconds. */
      owed: number;
      oldestOwedAge: number;
      /** Seconds. */
      duration: number;
      refusal: string | null;
    };

type Totals = Extract<Summary, { swept: true }>;

/** From time to time the sweep looks from the beginning again, so that rows that became due meanwhile are found. */
const slicesPerWatermark = 20;

/**
 * One beat: takes slices of what is owed until nothing more is, or its budget ends, and publishes them. The next
 * slice is leased while the current one is published. Safe to run twice at once, and to be killed anywhere.
 */
export async function sweep(context: Sweep): Promise<Summary> {
  const { ledger, settings } = context;
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  const end = Math.min(settings.sweep.budget, context.remaining() - 5);

  const beginning = await beginSweep(ledger, settings.durations);
  if (!beginning.taken) return { swept: false, why: beginning.why };

  const totals: Totals = {
    swept: true,
    leased: 0,
    published: 0,
    failed: 0,
    unsure: 0,
    fenced: 0,
    cancelled: 0,
    rescued: 0,
    unknown: 0,
    resent: 0,
    held: 0,
    lost: 0,
    slices: 0,
    owed: 0,
    oldestOwedAge: 0,
    duration: 0,
    refusal: null,
  };
  try {
    const asked = beginning.owed ? await ask(context, beginning) : nothingAsked;
    if (beginning.owed) await drain(context, asked, totals, () => elapsed() < end);
    Object.assign(totals, await finishSweep(ledger, beginning.run, totals, asked.queueEmpty));
  } catch (error) {
    await abandonSweep(ledger, beginning.run).catch(() => {});
    throw error;
  }
  totals.duration = elapsed();
  return totals;
}

type Asked = { queueEmpty: boolean | null; queued: "lost" | "look" | "skip"; unknown: "look" | "skip" };

const nothingAsked: Asked = { queueEmpty: null, queued: "look", unknown: "skip" };

/** More hidden messages than the consumer can have in flight are waiting for their next try. */
const feedbackInFlight = 20;

/**
 * Asks the queues only when the ledger has rows whose fate they may tell. A queue that does not answer proves
 * nothing, and stops nobody's publishing.
 */
async function ask(
  { sqs, notificationQueueUrl, feedbackQueueUrl, onError }: Sweep,
  beginning: { queuedOverdue: boolean; unknownDue: boolean; queueWasEmpty: boolean },
): Promise<Asked> {
  try {
    const [queue, feedback] = await Promise.all([
      beginning.queuedOverdue ? askQueue(sqs, notificationQueueUrl) : null,
      beginning.unknownDue ? askQueue(sqs, feedbackQueueUrl) : null,
    ]);
    const queueEmpty = queue && queue.total === 0;
    const feedbackWaits = feedback && (feedback.waiting > 0 || feedback.total > feedbackInFlight);
    return {
      queueEmpty,
      // Empty now and before: the messages are gone. Empty for the first time: the counts may lag, look again.
      queued: !queueEmpty ? "look" : beginning.queueWasEmpty ? "lost" : "skip",
      unknown: feedbackWaits ? "skip" : "look",
    };
  } catch (error) {
    onError?.("a queue did not say how many messages it holds", error);
    return nothingAsked;
  }
}

async function drain(context: Sweep, asked: Asked, totals: Totals, inTime: () => boolean): Promise<void> {
  const { ledger, settings } = context;
  const held = new Map<string, number>();
  const take = (watermark: string | null) =>
    lease(ledger, settings.durations, {
      limit: settings.sweep.slice,
      watermark,
      queued: asked.queued,
      unknown: asked.unknown,
    });

  let next: Promise<Slice> | null = take(null);
  let written: Promise<void> = Promise.resolve();
  let fromTheBeginning = true;
  try {
    while (next) {
      const slice: Slice = await next;
      next = null;
      add(totals, slice);
      if (slice.taken === 0 && fromTheBeginning) break;
      fromTheBeginning = slice.taken === 0 || totals.slices % slicesPerWatermark === 0;
      if (inTime()) {
        next = take(fromTheBeginning ? null : slice.watermark);
        // Awaited in the next round; until then a failure must not count as unhandled.
        next.catch(() => {});
      }
      const published = await publish(slice.leased, {
        sqs: context.sqs,
        queueUrl: context.notificationQueueUrl,
        lanes: settings.sweep.lanes,
        held,
        lease: settings.durations.lease,
        mayCall: inTime,
      });
      const before = written;
      // The slice is marked even if the one before could not be; the failure is told below.
      written = before.catch(() => {}).then(() => write(context, published, totals));
      written.catch(() => {});
      await before;
      // The queue refuses everything: leave the rest for the next beat.
      if (published.refusal && published.accepted.length === 0) break;
    }
  } finally {
    // Nothing is left running when the function returns, and nothing leased that nobody will publish.
    const [, unused] = await Promise.allSettled([written, next]);
    if (unused.status === "fulfilled" && unused.value) {
      add(totals, unused.value);
      await giveBack(ledger, unused.value.leased);
    }
  }
  await written;
}

async function write({ ledger, settings }: Sweep, published: Published, totals: Totals): Promise<void> {
  const marked = await markQueued(ledger, settings.durations, published.accepted);
  await release(ledger, published.released);
  totals.published += published.accepted.length;
  totals.fenced += published.accepted.length - marked;
  totals.failed += published.failed;
  totals.unsure += published.unsure;
  totals.refusal = published.refusal ?? totals.refusal;
}

const giveBack = (ledger: Ledger, rows: readonly Leased[]) =>
  release(
    ledger,
    rows.map((row) => ({ ...row, wait: 0 })),
  );

function add(totals: Totals, slice: Slice): void {
  totals.slices += slice.taken > 0 ? 1 : 0;
  totals.leased += slice.leased.length;
  totals.cancelled += slice.cancelled;
  totals.rescued += slice.rescued;
  totals.unknown += slice.unknown;
  totals.resent += slice.resent;
  totals.held += slice.held;
  totals.lost += slice.lost;
}
