import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";

export type SweepCounts = {
  leased: number;
  published: number;
  failed: number;
  cancelled: number;
  rescued: number;
  unknown: number;
  resent: number;
};

export type Finished = {
  /** Rows due and not in the queue at the end of the run. */
  owed: number;
  /** Age of the oldest of them in seconds, 0 when there is none. */
  oldestOwedAge: number;
  /** Seconds until the slowest channel has sent what is due; null when nobody can say, e.g. until a person opens it. */
  timeToDrain: number | null;
};

/**
 * Closes the run's row, gives the heartbeat back, and keeps since when the queue reports itself empty.
 * `queueEmpty`: what the queue said in this run, null when it was not asked.
 */
export async function finishSweep(
  ledger: Ledger,
  durations: Durations,
  run: string,
  counts: SweepCounts,
  queueEmpty: boolean | null,
): Promise<Finished> {
  const [row] = await ledger.run(
    (sql) => sql<Finished[]>`
      WITH channel AS (
        SELECT load.due, load.oldest_due_at, owed.time_to_drain(c, load.due, load.in_queue) AS seconds
        FROM owed.load(${durations.lostAfter}, ${durations.lease}) AS load JOIN owed.channel c ON c.name = load.channel
      ), left_over AS (
        SELECT coalesce(sum(due), 0)::int AS owed,
          greatest(0, coalesce(extract(epoch FROM now() - min(oldest_due_at)), 0))::float8 AS oldest_owed_s,
          CASE WHEN bool_and(seconds IS NOT NULL) IS NOT FALSE THEN coalesce(max(seconds), 0) END AS time_to_drain_s
        FROM channel
      ), freed AS (
        UPDATE owed.heartbeat SET holder = NULL, held_until = NULL, beat_at = now(),
          queue_empty_since = CASE WHEN ${queueEmpty === true} THEN coalesce(queue_empty_since, now()) END
        WHERE holder = ${run}
      ), finished AS (
        UPDATE owed.sweep_run SET finished_at = now(),
          leased = ${counts.leased}, published = ${counts.published}, failed = ${counts.failed},
          cancelled = ${counts.cancelled}, rescued = ${counts.rescued}, unknown = ${counts.unknown},
          resent = ${counts.resent}, owed = left_over.owed, oldest_owed_s = left_over.oldest_owed_s,
          time_to_drain_s = left_over.time_to_drain_s
        FROM left_over WHERE id = ${run}
      )
      SELECT owed, oldest_owed_s AS "oldestOwedAge", time_to_drain_s AS "timeToDrain" FROM left_over`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger did not say what is left");
  return row;
}
