import type { Ledger } from "../connect/ledger.ts";

/** A sweep: what it counted, each null while it runs, or when it never came to its end. */
export type Beat = {
  startedAt: Date;
  finishedAt: Date | null;
  leased: number | null;
  published: number | null;
  failed: number | null;
  cancelled: number | null;
  rescued: number | null;
  unknown: number | null;
  resent: number | null;
  /** Rows due and not in the queue at its end, and seconds since the oldest of them was due. */
  owed: number | null;
  oldestOwedAge: number | null;
  /** Seconds; null also when nobody could say. */
  timeToDrain: number | null;
};

/** The last sweeps, newest first, at most `most`. */
export async function listBeats(ledger: Ledger, most: number): Promise<Beat[]> {
  return ledger.run(
    (sql) => sql<Beat[]>`
      SELECT started_at AS "startedAt", finished_at AS "finishedAt", leased, published, failed, cancelled, rescued, unknown,
        resent, owed, oldest_owed_s AS "oldestOwedAge", time_to_drain_s AS "timeToDrain"
      FROM owed.sweep_run ORDER BY started_at DESC LIMIT ${most}`,
    { repeatable: true },
  );
}
