import { randomUUID } from "node:crypto";
import {
  abandonSweep,
  beginSweep,
  claim,
  defaultDurations,
  type Leased,
  Ledger,
  type LedgerOptions,
  lease,
  markQueued,
  record,
  type Slice,
} from "@owed/ledger";
import { accepted, warmSweeper, warmWorker } from "../database/warm.ts";
import { Queue } from "./queue.ts";

export type Life = {
  /** Workers at once, each with a ledger of its own, as each Lambda container has. */
  workers: number;
  /** Messages that a worker claims and records at once. */
  batch: number;
};

/** As the sweep's settings have it. */
const slice = 1000;
/** Slices in the queue at most. */
const ahead = 4;

/**
 * The whole life of every row that is due: leased, queued, marked, claimed, sent by a channel that takes no time, and
 * recorded as delivered. Returns how many were delivered, and the seconds from the first lease to the last record.
 */
export async function live(
  options: LedgerOptions,
  { workers, batch }: Life,
): Promise<{ rows: number; seconds: number }> {
  const sweeper = new Ledger(options);
  const ledgers = Array.from({ length: workers }, () => new Ledger(options));
  const all = [sweeper, ...ledgers];
  try {
    await Promise.all([warmSweeper(sweeper), ...ledgers.map(warmWorker)]);
    const queue = new Queue(ahead * slice);
    const start = performance.now();
    const [, ...delivered] = await Promise.all([
      sweepInto(queue, sweeper),
      ...ledgers.map((ledger) => deliverFrom(queue, ledger, batch)),
    ]);
    const seconds = (performance.now() - start) / 1000;
    return { rows: delivered.reduce((sum, rows) => sum + rows, 0), seconds };
  } finally {
    await Promise.all(all.map((ledger) => ledger.close()));
  }
}

/** Leases the next slice while the current one is published, and marks behind it, as the sweep does. */
async function sweepInto(queue: Queue, ledger: Ledger): Promise<void> {
  const beginning = await beginSweep(ledger, defaultDurations);
  if (!beginning.taken) throw new Error(`another sweep runs on the benchmark's database: ${beginning.why}`);
  const { onTheWay, run } = beginning;
  const own: string[] = [];
  const take = async (watermark: string | null): Promise<Slice> => {
    const shares = [{ channel: "email", most: slice }];
    const taken = await lease(ledger, defaultDurations, { shares, watermark, fresh: null, onTheWay, own });
    if (taken.until !== null) own.push(taken.until);
    return taken;
  };
  let marked: Promise<unknown> = Promise.resolve();
  for (let next = take(null); ; ) {
    const { leased, watermark } = await next;
    if (leased.length === 0) break;
    next = take(watermark);
    await queue.push(leased.map(messageOf));
    await marked;
    marked = markQueued(ledger, defaultDurations, leased);
  }
  await marked;
  queue.close();
  await abandonSweep(ledger, run);
}

const messageOf = ({ id, generation }: Leased) => ({
  id,
  generation,
  messageId: randomUUID(),
  sentAt: Date.now(),
});

async function deliverFrom(queue: Queue, ledger: Ledger, batch: number): Promise<number> {
  let delivered = 0;
  for (;;) {
    const messages = await queue.take(batch);
    if (messages.length === 0) return delivered;
    const verdicts = await claim(ledger, defaultDurations, messages);
    const results = messages.flatMap(({ id }, place) => {
      const verdict = verdicts[place];
      return verdict?.verdict === "claimed" ? [{ id, token: verdict.token, outcome: accepted() }] : [];
    });
    const fenced = await record(ledger, defaultDurations, results);
    delivered += results.length - fenced.size;
  }
}
