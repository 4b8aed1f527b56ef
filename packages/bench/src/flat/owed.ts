import type { Ledger } from "@owed/ledger";
import { countNow, settle } from "../database/fill.ts";

/** Makes the rows that were leased and marked owed again, as they were at first, and clears away what they left. */
export async function oweAgain(ledger: Ledger): Promise<void> {
  await ledger.run(
    (sql) =>
      sql.begin(async (transaction) => {
        await transaction`
          UPDATE owed.notification SET state = 'pending', owed_at = due_at, lease_token = 0, leased_until = NULL, queued_at = NULL
          WHERE owed_at IS NOT NULL AND state = 'queued'`;
        await transaction.unsafe(countNow);
      }),
    { repeatable: true },
  );
  await settle(ledger, "owed.notification");
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
