import type { Ledger } from "@owed/ledger";
import { countNow, oweRows, settle } from "../database/fill.ts";

/**
 * Takes out what was leased and marked, with what it came from, and owes as much anew: written to pages of its own, as what
 * comes in is. The foreign keys are not looked up, since nothing is left of what they name.
 */
export async function oweAnew(ledger: Ledger, rows: number): Promise<void> {
  await ledger.run(
    (sql) =>
      sql.begin(async (transaction) => {
        await transaction`SET LOCAL session_replication_role = replica`;
        await transaction`
          WITH queued AS (
            DELETE FROM owed.notification WHERE owed_at IS NOT NULL AND state = 'queued' RETURNING event_key, subscriber_id
          ), event AS (
            DELETE FROM owed.event WHERE key IN (SELECT event_key FROM queued) RETURNING shipment_id
          ), subscriber AS (
            DELETE FROM owed.subscriber WHERE id IN (SELECT subscriber_id FROM queued)
          )
          DELETE FROM owed.shipment WHERE id IN (SELECT shipment_id FROM event)`;
        await transaction.unsafe(countNow);
      }),
    { repeatable: true },
  );
  await settle(ledger);
  await oweRows(ledger, rows);
  await settle(ledger);
}

/** Rows of the ledger, and megabytes on the disk with all indexes, of the table alone, and of the index of what is owed. */
export type Size = { rows: number; megabytes: number; table: number; owedIndex: number };

export async function sizeOf(ledger: Ledger): Promise<Size> {
  const [size] = await ledger.run(
    (sql) => sql<Size[]>`
      SELECT (SELECT count(*) FROM owed.notification)::float8 AS rows,
        round(pg_total_relation_size('owed.notification') / 1e6, 1)::float8 AS megabytes,
        round(pg_table_size('owed.notification') / 1e6, 1)::float8 AS table,
        round(pg_relation_size('owed.notification_owed') / 1e6, 2)::float8 AS "owedIndex"`,
    { repeatable: true },
  );
  if (!size) throw new Error("PostgreSQL did not say how large the ledger is");
  return size;
}
