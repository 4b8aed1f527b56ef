import type postgres from "postgres";
import { readTimes } from "../../support/time.ts";

/** What happened on scaled time as it is in life: so many times as long ago, and so many times as slow. */
export async function stretch(sql: postgres.Sql, times: number): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SET LOCAL session_replication_role = replica`;
    // Of what is on its way, and nothing is: its minutes are a key.
    await transaction`DELETE FROM owed.claim_mark`;
    const columns = await readTimes(transaction);
    for (const [table, of] of Map.groupBy(columns, ({ table }) => table)) {
      const set = of.map(({ column }) => `"${column}" = now() - (now() - "${column}") * ${times}`);
      await transaction.unsafe(`UPDATE owed."${table}" SET ${set.join(", ")}`);
    }
    await transaction`UPDATE owed.channel SET rate = rate / ${times}`;
  });
}
