import type { Ledger } from "../connect/ledger.ts";

export type Proven = {
  /** Notifications in the ledger. */
  rows: number;
  delivered: number;
  cancelled: number;
  dead: number;
  /** Neither delivered, cancelled nor dead yet. */
  unfinished: number;
  /** Rows whose outcome was unknown at some time. */
  unknown: number;
  /** Resends that may be duplicates, and acceptances beyond the first. */
  possibleDuplicates: number;
  duplicates: number;
};

/** What the ledger says of all its notifications: the drill's first side. A full scan: for drills and tests. */
export async function proveDelivery(ledger: Ledger): Promise<Proven> {
  const [row] = await ledger.run(
    (sql) => sql<Proven[]>`
      SELECT count(*)::int AS rows,
        count(*) FILTER (WHERE state = 'delivered')::int AS delivered,
        count(*) FILTER (WHERE state = 'cancelled')::int AS cancelled,
        count(*) FILTER (WHERE state = 'dead')::int AS dead,
        count(*) FILTER (WHERE state NOT IN ('delivered', 'cancelled', 'dead'))::int AS unfinished,
        (SELECT count(DISTINCT notification_id)::int FROM owed.attempt WHERE kind = 'unknown') AS unknown,
        (SELECT count(*)::int FROM owed.attempt WHERE kind = 'resent') AS "possibleDuplicates",
        (SELECT count(*)::int FROM owed.attempt WHERE kind = 'duplicate') AS duplicates
      FROM owed.notification`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger gave no answer");
  return row;
}
