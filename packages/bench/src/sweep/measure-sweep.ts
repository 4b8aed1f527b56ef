import { Ledger } from "@owed/ledger";
import { addHistory, oweRows, settle } from "../database/fill.ts";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import { type Measured, measure, type Summary, summarise } from "../database/measure.ts";
import { type Series, series } from "../figures.ts";
import { originalLoop } from "./original.ts";
import { publishAlone } from "./publish-alone.ts";
import { type StubQueue, startStubQueue } from "./start-stub-queue.ts";
import { settings, sweepAll } from "./sweep-all.ts";

export type Sizes = { rows: number; originalRows: number };

/** What was measured with a queue that answers each call after so many milliseconds. */
export type AtServiceTime = {
  serviceTime: number;
  original: Summary;
  sweep: Summary;
  /** Rows a second. */
  alone: Series;
  /** How many times as many rows a second the sweep publishes, each run beside its own. */
  overOriginal: Series;
  overAlone: Series;
};

type Run = { original: Measured; sweep: Measured; alone: number };

/** Rows that each publishes before anything is measured. */
const warmUp = 5000;

/** Measures the three side by side, one after the other in each run. */
export async function measureSweep(
  database: LedgerDatabase,
  serviceTimes: readonly { serviceTime: number; sizes: Sizes }[],
  options: { history: number; runs: number; measured: () => void },
): Promise<AtServiceTime[]> {
  // Two connections, as a function has: one leases while the other marks.
  const ledger = new Ledger(database.options);
  const queues: StubQueue[] = [];
  try {
    await addHistory(database.setUp, options.history);
    const all = [];
    for (const { serviceTime, sizes } of serviceTimes) {
      const queue = await startStubQueue(serviceTime, settings.sweep.lanes);
      queues.push(queue);
      await runOnce({ database, ledger, queue }, { rows: warmUp, originalRows: 10 });
      all.push({ serviceTime, sizes, queue, taken: [] as Run[] });
    }
    for (let run = 0; run < options.runs; run += 1)
      for (const { queue, sizes, taken } of all) {
        taken.push(await runOnce({ database, ledger, queue }, sizes));
        options.measured();
      }
    return all.map(({ serviceTime, taken }) => ({ serviceTime, ...summed(taken) }));
  } finally {
    await ledger.close();
    for (const queue of queues) await queue.stop();
  }
}

type Bench = { database: LedgerDatabase; ledger: Ledger; queue: StubQueue };

async function runOnce({ database, ledger, queue }: Bench, { rows, originalRows }: Sizes): Promise<Run> {
  const { setUp } = database;
  const onLedger = async (owed: number, work: () => Promise<number>) => {
    await oweRows(setUp, owed);
    await settle(setUp);
    const measured = await measure(setUp, work);
    if (measured.rows !== owed) throw new Error(`${measured.rows} of ${owed} rows were published`);
    await forgetQueued(setUp);
    return measured;
  };
  const original = await onLedger(originalRows, () => originalLoop(ledger, queue));
  const sweep = await onLedger(rows, () => sweepAll(ledger, queue));
  const start = performance.now();
  await publishAlone(queue, rows, settings.sweep.lanes);
  return { original, sweep, alone: rows / ((performance.now() - start) / 1000) };
}

/** What was published is gone, so that each finds the same ledger. */
const forgetQueued = (ledger: Ledger) =>
  ledger.run((sql) => sql`DELETE FROM owed.notification WHERE state = 'queued'`, { repeatable: true });

const summed = (runs: readonly Run[]): Omit<AtServiceTime, "serviceTime"> => ({
  original: summarise(runs.map((run) => run.original)),
  sweep: summarise(runs.map((run) => run.sweep)),
  alone: series(runs.map((run) => run.alone)),
  overOriginal: series(runs.map(({ sweep, original }) => sweep.rowsPerSecond / original.rowsPerSecond)),
  overAlone: series(runs.map(({ sweep, alone }) => sweep.rowsPerSecond / alone)),
});
