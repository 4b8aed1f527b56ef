import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "@owed/ledger";

/** Seconds after which the ledger's client looks whether its connection has ended. */
const noticed = 1.1;

/** What one role's sessions have run, and how often, by PostgreSQL's own count. */
export async function readStatements(ledger: Ledger, role: string): Promise<Map<string, number>> {
  const rows = await ledger.run(
    (sql) => sql<{ query: string; calls: number }[]>`
      SELECT regexp_replace(s.query, '\\s+', ' ', 'g') AS query, sum(s.calls)::int AS calls
      FROM public.pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
      WHERE d.datname = current_database() AND s.userid = ${role}::regrole AND s.toplevel
      GROUP BY 1 ORDER BY 2 DESC`,
    { repeatable: true },
  );
  return new Map(rows.map(({ query, calls }) => [query, calls]));
}

export async function countStatements(ledger: Ledger): Promise<void> {
  await ledger.run((sql) => sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements SCHEMA public`, {
    repeatable: true,
  });
}

/** How many more of each there are than before. */
export const since = (before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): number =>
  [...now].reduce((sum, [query, calls]) => sum + calls - (before.get(query) ?? 0), 0);

/** Ends the sweep's connections, as its idle container does before the next minute; resolves when it has noticed. */
export async function disconnectSweep(ledger: Ledger): Promise<void> {
  for (;;) {
    const left = await ledger.run(
      (sql) => sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'owed-sweep' AND datname = current_database()`,
      { repeatable: true },
    );
    if (left.count === 0) break;
  }
  await sleep(noticed * 1000);
}

/** Lets the hour pass after which the sweep looks for history that is over. */
export const passRetentionsHour = (ledger: Ledger): Promise<unknown> =>
  ledger.run((sql) => sql`UPDATE owed.retention SET next_at = now()`, { repeatable: true });
