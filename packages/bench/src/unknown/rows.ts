import type { Ledger, State } from "@owed/ledger";

/** A row as the benchmark compares it with the provider's record. Times in milliseconds since the epoch. */
export type Row = {
  id: string;
  state: State;
  attempts: number;
  resends: number;
  evidence: "reply" | "feedback" | "operator" | null;
  claimedAt: number | null;
  deliveredAt: number | null;
  /** A sweep or a worker found that its worker had vanished. */
  wasUnknown: boolean;
};

/** The rows with these ids, or all of them. To the microsecond, which JavaScript's Date would cut off. */
export function readRows(ledger: Ledger, ids: readonly string[] | null = null): Promise<Row[]> {
  return ledger.run(
    (sql) => sql<Row[]>`
      SELECT id, state, attempts, resends, evidence,
        (extract(epoch FROM claimed_at) * 1000)::float8 AS "claimedAt",
        (extract(epoch FROM delivered_at) * 1000)::float8 AS "deliveredAt",
        EXISTS (SELECT FROM owed.attempt a WHERE a.notification_id = n.id AND a.kind = 'unknown') AS "wasUnknown"
      FROM owed.notification n
      WHERE ${ids === null} OR id = ANY(${ids ?? []}::uuid[])`,
    { repeatable: true },
  );
}

/** The server processes that serve deliver workers. */
export async function deliverSessions(ledger: Ledger): Promise<number[]> {
  const sessions = await ledger.run(
    (sql) => sql<{ pid: number }[]>`SELECT pid FROM pg_stat_activity WHERE application_name = 'owed-deliver'`,
    { repeatable: true },
  );
  return sessions.map(({ pid }) => pid);
}
