import type { Ledger } from "../connect/ledger.ts";

/** Rows that wait for a person for the same reason, in one channel. */
export type StoppedGroup = {
  /** Dead, or unknown and held. */
  state: "dead" | "unknown";
  channel: string;
  /** Its code word: what stands before the colon. */
  reason: string;
  rows: number;
  oldestAt: Date;
  newestAt: Date;
};

/** What waits for a person, by state, channel and reason, the largest group first. `listStopped` has the rows. */
export async function countStopped(ledger: Ledger): Promise<StoppedGroup[]> {
  return ledger.run(
    (sql) => sql<StoppedGroup[]>`
      SELECT state, channel, split_part(coalesce(reason, 'held'), ':', 1) AS reason, count(*)::int AS rows,
        min(stopped_at) AS "oldestAt", max(stopped_at) AS "newestAt"
      FROM owed.notification WHERE stopped_at IS NOT NULL
      GROUP BY 1, 2, 3 ORDER BY rows DESC, 1, 2, 3`,
    { repeatable: true },
  );
}
