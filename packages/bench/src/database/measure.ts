import type { Ledger } from "@owed/ledger";
import { series } from "../figures.ts";
import { serverSeconds } from "./server-seconds.ts";

export type Measured = {
  rows: number;
  seconds: number;
  rowsPerSecond: number;
  statementsPerRow: number;
  /** Bytes of write-ahead log a row, without the full-page images that follow a checkpoint. */
  walPerRow: number;
  /** Cores that PostgreSQL kept busy; null where the system does not tell. */
  serverCores: number | null;
  /** Cores that this process kept busy. */
  clientCores: number;
};

/**
 * Measures some work on the ledger's server, which nobody else uses meanwhile.
 *
 * @param work returns how many rows it worked on; `seconds` where a part of it is not to count
 */
export async function measure(
  ledger: Ledger,
  work: () => Promise<number | { rows: number; seconds: number }>,
): Promise<Measured> {
  await ledger.run((sql) => sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements SCHEMA public`, again);
  await ledger.run((sql) => sql`CREATE EXTENSION IF NOT EXISTS pg_walinspect SCHEMA public`, again);
  await ledger.run((sql) => sql`SELECT public.pg_stat_statements_reset()`, again);
  const from = await readLsn(ledger);
  const server = await serverSeconds(ledger);
  const client = process.cpuUsage();
  const start = performance.now();
  const done = await work();
  const whole = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(client);
  const spent = await serverSeconds(ledger);
  const [counted] = await ledger.run(
    (sql) => sql<{ statements: number; wal: number }[]>`
      SELECT
        (SELECT coalesce(sum(calls), 0)::float8 FROM public.pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
         WHERE d.datname = current_database() AND s.query !~ 'pg_current_wal_insert_lsn|pg_backend_pid|pg_stat_statements_reset') AS statements,
        (SELECT coalesce(sum(record_size), 0)::float8 FROM public.pg_get_wal_stats(${from}::text::pg_lsn, pg_current_wal_flush_lsn())
         WHERE count > 0) AS wal`,
    again,
  );
  if (!counted) throw new Error("PostgreSQL did not say what it counted");
  const { rows, seconds } = typeof done === "number" ? { rows: done, seconds: whole } : done;
  return {
    rows,
    seconds,
    rowsPerSecond: rows / seconds,
    statementsPerRow: counted.statements / rows,
    walPerRow: counted.wal / rows,
    serverCores: server === null || spent === null ? null : (spent - server) / whole,
    clientCores: (user + system) / 1e6 / whole,
  };
}

const again = { repeatable: true };

async function readLsn(ledger: Ledger): Promise<string> {
  const [row] = await ledger.run(
    (sql) => sql<{ lsn: string }[]>`SELECT pg_current_wal_insert_lsn()::text AS lsn`,
    again,
  );
  if (!row) throw new Error("PostgreSQL did not say where its write-ahead log is");
  return row.lsn;
}

/** The same thing measured several times: medians with the least and the greatest. */
export const summarise = (runs: readonly Measured[]) => ({
  rowsPerSecond: series(runs.map((run) => run.rowsPerSecond)),
  statementsPerRow: series(runs.map((run) => run.statementsPerRow)),
  walPerRow: series(runs.map((run) => run.walPerRow)),
  serverCores: runs.some((run) => run.serverCores === null)
    ? null
    : series(runs.map((run) => run.serverCores ?? 0)),
  clientCores: series(runs.map((run) => run.clientCores)),
});

export type Summary = ReturnType<typeof summarise>;
