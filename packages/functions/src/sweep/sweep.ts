import type { SQSClient } from "@aws-sdk/client-sqs";
import { abandonSweep, beginSweep, type Finished, finishSweep, type Ledger, type Share } from "@owed/ledger";
import type { Settings } from "../settings.ts";
import { reached } from "../step.ts";
import { type Clocks, startStopwatch } from "../stopwatch.ts";
import { type Drained, drain } from "./drain.ts";
import { type LimitSource, refreshLimits } from "./limits.ts";
import { ask, type LookedAt, look } from "./look.ts";
import { isFull, plan } from "./plan.ts";
import { retainHistory } from "./retain.ts";
import { publishShadow } from "./shadow.ts";

export type Sweep = {
  ledger: Ledger;
  sqs: SQSClient;
  notificationQueueUrl: string;
  feedbackQueueUrl: string;
  /** Null: nothing is published in shadow, and such rows wait. */
  shadowQueueUrl?: string | null | undefined;
  settings: Settings;
  /** By channel: asks its provider what it takes. Without one the settings alone bound what is published. */
  limits: ReadonlyMap<string, LimitSource>;
  /** Seconds this invocation may still run. */
  remaining: () => number;
  clocks?: Clocks | undefined;
  onError?: (message: string, error: unknown) => void;
};

export type Summary =
  | { swept: false; why: "paused" | "held" }
  | ({
      swept: true;
      /** Seconds. */
      duration: number;
      /** Published in shadow, where the old sender sends. */
      shadowed: number;
      /** Notifications that went to the archive. */
      archived: number;
    } & Drained &
      LookedAt &
      Finished);

type Totals = Extract<Summary, { swept: true }>;

/**
 * One beat: looks again at what waits for a look, then publishes what is due, as much as the channels' providers take
 * until the next beat. Where that is less than all, fresh rows have their share first, and the backlog the rest. Safe
 * to run twice at once, and to be killed anywhere.
 */
export async function sweep(context: Sweep): Promise<Summary> {
  const { ledger, settings, onError } = context;
  const elapsed = startStopwatch(context.clocks);
  const end = Math.min(settings.sweep.budget, context.remaining() - 5);
  const inTime = () => elapsed() < end;

  const beginning = await beginSweep(ledger, settings.durations);
  if (!beginning.taken) return { swept: false, why: beginning.why };
  reached("sweep:begun");

  const totals = nothingYet();
  try {
    const [asked, channels] = await Promise.all([
      ask(context, { ...beginning, full: beginning.channels.some((load) => isFull(load, settings)) }),
      refreshLimits({ ledger, settings, sources: context.limits, onError }, beginning.channels),
    ]);
    reached("sweep:asked");
    Object.assign(totals, await look(ledger, settings, asked, inTime));
    reached("sweep:looked");
    // What was resent or rescued just now is due as well.
    const dueNow = totals.resent + totals.rescued;
    const { fresh, all } = plan(
      channels.map((load) => ({ ...load, due: load.due + dueNow })),
      settings,
    );
    const { oldestOwedAt: since, onTheWay } = beginning;
    const draining = { ...context, held: new Map<string, number>(), since, onTheWay, own: [], inTime };
    const unused = await drain(draining, fresh, 3 * settings.sweep.every, totals);
    if (unused) await drain(draining, without(all, fresh, unused), null, totals);
    if (beginning.shadowDue) totals.shadowed = await publishShadow({ ...context, inTime });
    Object.assign(
      totals,
      await finishSweep(ledger, settings.durations, beginning.run, totals, asked.queueEmpty),
    );
    reached("sweep:finished");
    // With the heartbeat given back, and when nobody waits for the ledger.
    if (beginning.retentionDue && totals.owed === 0)
      totals.archived = await retainHistory({ ...context, inTime });
  } catch (error) {
    await abandonSweep(ledger, beginning.run).catch(() => {});
    throw error;
  }
  totals.duration = elapsed();
  return totals;
}

/** What all shares have left when of the fresh ones so much is unused. */
function without(all: readonly Share[], fresh: readonly Share[], unused: readonly Share[]): Share[] {
  const most = (shares: readonly Share[], channel: string) =>
    shares.find((share) => share.channel === channel)?.most ?? 0;
  return all.map(({ channel, most: total }) => ({
    channel,
    most: total - most(fresh, channel) + most(unused, channel),
  }));
}

const nothingYet = (): Totals => ({
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
  timeToDrain: 0,
  duration: 0,
  shadowed: 0,
  archived: 0,
  refusal: null,
});
