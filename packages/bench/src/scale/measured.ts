import { series } from "../figures.ts";
import { NotARun, type Run, resultsOf } from "../plot/runs.ts";

/** What the limits are reckoned from. */
export type Measured = {
  /** Rows whose whole life one core of PostgreSQL's serves in a second, in batches of ten. */
  rowsOfServerCore: number;
  /** Bytes of write-ahead log that such a life takes, without full-page images, and without the row's insertion. */
  walPerRow: number;
  /** Rows that a sweep's process publishes and marks with one core in a second. */
  rowsOfSweepCore: number;
  /** Milliseconds of ours: an event's with ingest, and a batch's with deliver, the provider's time apart. */
  ingest: number;
  deliver: number;
  /** Bytes that a finished row keeps on the disk, with its indexes and without its event and attempts. */
  bytesPerRow: number;
};

/**
 * The medians over some runs.
 *
 * @throws NotARun when none of them has what is needed
 */
export function measuredIn(runs: readonly Run[]): Measured {
  const lives = resultsOf(runs, "ledger").map(({ lives }) => lives.batches);
  const sweeps = resultsOf(runs, "sweep").flatMap(({ queues }) => queues.at(-1)?.sweep ?? []);
  const stages = resultsOf(runs, "latency").map(
    ({ stages }) => new Map(stages.map((one) => [one.name, one.milliseconds.p50])),
  );
  const sizes = resultsOf(runs, "flat").flatMap(({ sizes }) => sizes.at(-1)?.size ?? []);
  const spent = (...names: string[]) =>
    median(stages.map((of) => names.reduce((sum, name) => sum + (of.get(name) ?? Number.NaN), 0)));
  const measured = {
    rowsOfServerCore: median(
      lives.map(
        ({ rowsPerSecond, serverCores }) => rowsPerSecond.median / (serverCores?.median ?? Number.NaN),
      ),
    ),
    walPerRow: median(lives.map(({ walPerRow }) => walPerRow.median)),
    rowsOfSweepCore: median(
      sweeps.map(({ rowsPerSecond, clientCores }) => rowsPerSecond.median / clientCores.median),
    ),
    ingest: spent("ingest: record, lease, publish"),
    deliver: spent("deliver: claim", "deliver: call, provider accepts", "(acceptance to delivered_at)"),
    bytesPerRow: median(sizes.map(({ rows, megabytes }) => (megabytes * 1e6) / rows)),
  };
  const missing = Object.entries(measured).flatMap(([name, value]) => (Number.isFinite(value) ? [] : [name]));
  if (missing.length === 0) return measured;
  throw new NotARun(
    `the runs do not tell ${missing.join(", ")}: bench all must have run ledger, sweep, flat and latency on a system that tells a process's time`,
  );
}

const median = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : series(values).median;
