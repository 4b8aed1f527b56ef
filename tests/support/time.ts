import type postgres from "postgres";

/**
 * Lets time pass in the ledger: every time it holds moves back. The product compares times in the database
 * alone, so nobody has to sleep, and no clock of the product is replaced. The schedule beats all the while: the last
 * sweep stays where it was. The times of the tables `still` stay as well, where nobody compares them with the present.
 */
export async function passTime(
  sql: postgres.Sql,
  seconds: number,
  { still = [] }: { still?: readonly string[] } = {},
): Promise<void> {
  await sql.begin(async (transaction) => {
    // Moving delivered_at is what the ledger's trigger refuses to everybody else.
    await transaction`SET LOCAL session_replication_role = replica`;
    const columns = (await readTimes(transaction)).filter(({ column }) => column !== "beat_at");
    // A key: in two steps, so that no mark meets the one of the minute before on its way.
    await transaction`UPDATE owed.claim_mark SET minute = minute - interval '36500 days'`;
    for (const [table, changes] of Map.groupBy(columns, (column) => column.table)) {
      if (still.includes(table)) continue;
      const back = `- make_interval(secs => ${seconds})`;
      const set = changes.map(
        ({ column }) =>
          `"${column}" = "${column}" ${column === "minute" ? "+ interval '36500 days' " : ""}${back}`,
      );
      await transaction.unsafe(`UPDATE owed."${table}" SET ${set.join(", ")}`);
    }
  });
}

/** Where the ledger holds times. */
export const readTimes = (sql: postgres.ISql) => sql<{ table: string; column: string }[]>`
  SELECT t.relname AS table, c.attname AS column
  FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid
  WHERE t.relnamespace = 'owed'::regnamespace AND t.relkind = 'r' AND NOT c.attisdropped
    AND c.atttypid = 'timestamptz'::regtype`;
