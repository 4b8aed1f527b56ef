import type { Ledger } from "../connect/ledger.ts";

export type DeadLettered = {
  /** Those that have waited longest first. */
  ids: string[];
  /** The database's time of the look. */
  at: Date;
};

/** Days that the dead-letter queue keeps a message; a row that died earlier has none there. */
const retention = 14;

/**
 * Dead rows whose message may be in the dead-letter queue: a worker tried them, and they died within the queue's
 * retention.
 */
export async function listDeadLettered(ledger: Ledger, limit: number): Promise<DeadLettered> {
  const rows = await ledger.run(
    (sql) => sql<{ id: string | null; at: Date }[]>`
      SELECT dead.id, now() AS at FROM (SELECT) AS one LEFT JOIN (
        SELECT id, stopped_at FROM owed.notification
        WHERE stopped_at > now() - make_interval(days => ${retention}) AND state = 'dead' AND died_at IS NOT NULL AND attempts > 0
        ORDER BY stopped_at, id LIMIT ${limit}
      ) AS dead ON true
      ORDER BY dead.stopped_at, dead.id`,
    { repeatable: true },
  );
  const [first] = rows;
  if (!first) throw new Error("the ledger did not tell its time");
  return { ids: rows.flatMap(({ id }) => (id === null ? [] : [id])), at: first.at };
}
