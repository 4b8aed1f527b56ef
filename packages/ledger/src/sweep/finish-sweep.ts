import type { Ledger } from "../connect/ledger.ts";

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
  /** Rows due and not yet in the queue or with a worker, at the end of the run; counted up to 100,000. */
  owed: number;
  /** Age of the oldest of them in seconds, 0 when there is none. */
  oldestOwedAge: number;
};

/**
 * Closes the run's row, gives the heartbeat back, and keeps since when the queue reports itself empty.
 * `queueEmpty`: what the queue said in this run, null when it was not asked.
 */
export async function finishSweep(
  ledger: Ledger,
  run: string,
  counts: SweepCounts,
  queueEmpty: boolean | null,
): Promise<Finished> {
  const [row] = await ledger.run(
    (sql) => sql<{ owed: number; oldest_owed_s: number }[]>`
      WITH left_over AS (
        SELECT count(*)::int AS owed, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS oldest_owed_s
        FROM (
          SELECT due_at FROM owed.notification WHERE owed_at <= now() AND state IN ('pending', 'leased')
          ORDER BY owed_at LIMIT 100000) AS due
      ), freed AS (
        UPDATE owed.heartbeat SET holder = NULL, held_until = NULL,
          queue_empty_since = CASE WHEN ${queueEmpty === true} THEN coalesce(queue_empty_since, now()) END
        WHERE holder = ${run}
      ), finished AS (
        UPDATE owed.sweep_run SET finished_at = now(),
          leased = ${counts.leased}, published = ${counts.published}, failed = ${counts.failed},
          cancelled = ${counts.cancelled}, rescued = ${counts.rescued}, unknown = ${counts.unknown},
          resent = ${counts.resent}, owed = left_over.owed, oldest_owed_s = left_over.oldest_owed_s
        FROM left_over WHERE id = ${run}
      )
      SELECT owed, oldest_owed_s FROM left_over`,
    { repeatable: true },
  );
  return { owed: row?.owed ?? 0, oldestOwedAge: Math.max(0, row?.oldest_owed_s ?? 0) };
}
