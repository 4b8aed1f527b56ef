import type { Ledger } from "../connect/ledger.ts";
import type { Mode } from "../states.ts";

export type MerchantMode = {
  merchant: string;
  name: string;
  mode: Mode;
  /** Rows that the old sender is to send; of them those that are due by now. */
  held: number;
  due: number;
  /** Of those due, the ones that it has claimed lately, and those that it claimed and said nothing of. */
  claimed: number;
  silent: number;
};

export type Modes = {
  newMerchants: Mode;
  /** The database's time of this look, in RFC 3339. */
  at: string;
  merchants: MerchantMode[];
};

/**
 * Who sends for each merchant, and how many of its rows are held for the old sender. Without a merchant: for all,
 * at most so many, those that are not Owed's first.
 */
export async function readModes(ledger: Ledger, merchant: string | null, most: number): Promise<Modes> {
  const [row] = await ledger.run(
    (sql) => sql<Modes[]>`
      WITH held AS (
        SELECT sh.merchant_id, count(*)::int AS held, count(*) FILTER (WHERE waits.due)::int AS due,
          count(*) FILTER (WHERE waits.due AND claimed)::int AS claimed, count(*) FILTER (WHERE waits.due AND NOT claimed)::int AS silent
        FROM ${
          merchant === null
            ? sql`(SELECT event_key, due_at <= now() AS due, old_claimed_at > now() - owed.old_claim_ends() AS claimed
            FROM owed.notification WHERE owed_at = 'infinity') AS waits
          JOIN owed.event e ON e.key = waits.event_key JOIN owed.shipment sh ON sh.id = e.shipment_id`
            : sql`owed.shipment sh
          CROSS JOIN LATERAL (SELECT key FROM owed.event WHERE shipment_id = sh.id OFFSET 0) AS e
          CROSS JOIN LATERAL (
            SELECT owed_at, due_at <= now() AS due, old_claimed_at > now() - owed.old_claim_ends() AS claimed
            FROM owed.notification
            WHERE id > e.key AND id <= owed.notification_id(e.key, 65535) OFFSET 0) AS waits
          WHERE sh.merchant_id = ${merchant} AND waits.owed_at = 'infinity'`
        }
        GROUP BY sh.merchant_id
      ), listed AS (
        SELECT m.id AS merchant, m.name, m.mode, coalesce(held, 0) AS held, coalesce(due, 0) AS due, coalesce(claimed, 0) AS claimed,
          coalesce(silent, 0) AS silent
        FROM owed.merchant m LEFT JOIN held ON held.merchant_id = m.id
        WHERE ${merchant}::text IS NULL OR m.id = ${merchant}
        ORDER BY m.mode = 'owed' AND held.held IS NULL, m.id
        LIMIT ${most}
      )
      SELECT (SELECT new_merchants FROM owed.rollout) AS "newMerchants", to_json(now()) #>> '{}' AS at,
        coalesce((SELECT json_agg(listed) FROM listed), '[]') AS merchants`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger gave no answer");
  return row;
}
