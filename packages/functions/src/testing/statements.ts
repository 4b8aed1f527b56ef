import type { TestDatabase } from "../../../../tests/support/database.ts";

/** How many statements the server ran for this database while `work` did, by PostgreSQL's own count. */
export async function countStatements(
  { sql }: Pick<TestDatabase, "sql">,
  work: () => Promise<unknown>,
): Promise<number> {
  await sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`;
  await sql`SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()), 0)`;
  await work();
  const [row] = await sql<{ calls: number }[]>`
    SELECT coalesce(sum(calls), 0)::int AS calls FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND toplevel AND query NOT LIKE '%pg_stat_statements%'`;
  return row?.calls ?? 0;
}
