import type { SQSClient } from "@aws-sdk/client-sqs";
import {
  inIdOrder,
  type Leased,
  type Ledger,
  lease,
  markQueued,
  type OnTheWay,
  release,
  type Share,
  type Slice,
} from "@owed/ledger";
import { type Published, Publisher } from "../publish/publish.ts";
import type { Settings } from "../settings.ts";
import { reached } from "../step.ts";

export type Drain = {
  ledger: Ledger;
  sqs: SQSClient;
  notificationQueueUrl: string;
  settings: Settings;
  /** Groups that must wait, from slice to slice: see `publish`. */
  held: Map<string, number>;
  /**
   * When the oldest row became owed, as the sweep's beginning found it: the first slice starts there. What is put back
   * before it meanwhile is for the next beat. Null: from the very beginning.
   */
  since: string | null;
  /** What was on its way when the sweep began, and the leases of the sweep's own slices: those go before their next one's. */
  onTheWay: OnTheWay | null;
  own: string[];
  /** False once the sweep's budget has ended. */
  inTime: () => boolean;
};

export type Drained = {
  leased: number;
  published: number;
  /** Refused by SQS and given back. */
  failed: number;
  /** Neither accepted nor refused: their leases run out. */
  unsure: number;
  /** Accepted, but claimed or leased by somebody else before the mark. */
  fenced: number;
  cancelled: number;
  slices: number;
  refusal: string | null;
};

/** From time to time the sweep looks from the beginning again, so that rows that became due meanwhile are found. */
const slicesPerWatermark = 20;

/**
 * Publishes what is due, within the channels' shares, until they are used up, nothing more is due, or the budget has
 * ended; with `fresh`, only what became owed within so many seconds. The next slice is leased while the current one
 * is published. What is done is added to `totals`, for a caller that must tell it even when this throws. Returns
 * what is left of the shares; null when the queue refuses everything, and the rest is for the next beat.
 */
export async function drain(
  context: Drain,
  given: readonly Share[],
  fresh: number | null,
  totals: Drained,
): Promise<Share[] | null> {
  const { ledger, sqs, settings, held, onTheWay, own, inTime } = context;
  const shares = new Shares(given, settings.sweep.slice);
  const take = async (from: string | null): Promise<Slice> => {
    const asked = shares.ask();
    const watermark = from ?? context.since;
    const slice = await lease(ledger, settings.durations, { shares: asked, watermark, fresh, onTheWay, own });
    reached("sweep:leased");
    if (slice.until !== null) own.push(slice.until);
    shares.use(asked, slice, from === null);
    return slice;
  };

  const publisher = new Publisher({
    sqs,
    queueUrl: context.notificationQueueUrl,
    lanes: settings.sweep.lanes,
    held,
    lease: settings.durations.lease,
    mayCall: inTime,
  });

  let next: Promise<Slice> | null = shares.open && inTime() ? take(null) : null;
  let refused = false;
  let written: Promise<void> = Promise.resolve();
  try {
    while (next) {
      const slice: Slice = await next;
      next = null;
      add(totals, slice);
      if (shares.open && inTime()) {
        const again = slice.taken.size === 0 || totals.slices % slicesPerWatermark === 0;
        next = take(again ? null : slice.watermark);
        // Awaited in the next round; until then a failure must not count as unhandled.
        next.catch(() => {});
      }
      // Of a group one that was put back goes before what was recorded after it.
      const { begun, done } = publisher.publish(inIdOrder(slice.leased));
      const before = written;
      // The slice is marked even if the one before could not be; the failure is told below.
      written = Promise.all([done, before.catch(() => {})]).then(([published]) =>
        write(context, published, totals),
      );
      written.catch(() => {});
      // The next slice fills the lanes that this one's last calls leave.
      refused = !(await begun);
      await before;
      if (refused) break;
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
  return refused ? null : shares.left();
}

/** What each channel may still have of this sweep, and which of them have something due. */
class Shares {
  readonly #left: Map<string, number>;
  readonly #open: Set<string>;
  readonly #slice: number;

  constructor(given: readonly Share[], slice: number) {
    this.#left = new Map(given.map(({ channel, most }) => [channel, most]));
    this.#open = new Set(given.filter(({ most }) => most > 0).map(({ channel }) => channel));
    this.#slice = slice;
  }

  get open(): boolean {
    return this.#open.size > 0;
  }

  left(): Share[] {
    return [...this.#left].map(([channel, most]) => ({ channel, most }));
  }

  /** The next slice, divided among the channels that are open. */
  ask(): Share[] {
    const part = Math.ceil(this.#slice / this.#open.size);
    return [...this.#open].map((channel) => ({
      channel,
      most: Math.min(part, this.#left.get(channel) ?? 0),
    }));
  }

  /** A row that was cancelled uses up nothing. `fromTheBeginning`: a channel that got less than it asked for has no more. */
  use(asked: readonly Share[], { taken }: Slice, fromTheBeginning: boolean): void {
    for (const { channel, most } of asked) {
      const { rows, leased } = taken.get(channel) ?? { rows: 0, leased: 0 };
      const left = (this.#left.get(channel) ?? 0) - leased;
      this.#left.set(channel, left);
      if (left <= 0 || (fromTheBeginning && rows < most)) this.#open.delete(channel);
    }
  }
}

async function write({ ledger, settings }: Drain, published: Published, totals: Drained): Promise<void> {
  const marked = await markQueued(ledger, settings.durations, published.accepted);
  reached("sweep:marked");
  await release(ledger, published.released);
  reached("sweep:released");
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

function add(totals: Drained, slice: Slice): void {
  totals.slices += slice.taken.size > 0 ? 1 : 0;
  totals.leased += slice.leased.length;
  totals.cancelled += slice.cancelled;
}
