// What benchmarks of the ledger share. Everything takes a `Ledger`, so it works on the local stack's database too:
// `new Ledger(setUpOptions(stack.ledgerOptions))`.
//
//   withLedgerDatabase(async ({ setUp, options }) => …)   embedded PostgreSQL, default durability, shipped migrations
//   fill.ts:     oweRows(setUp, rows)        due since the last hour, two an event; addHistory(setUp, rows, progress);
//                emptyLedger(setUp)          ready for the next run
//                settle(setUp)               VACUUM ANALYZE and CHECKPOINT: between filling and measuring
//   measure.ts:  measure(setUp, async () => rows)   rows/s, statements and WAL bytes a row, CPU of server and client

import { fileURLToPath } from "node:url";
import { Ledger, type LedgerOptions, migrate } from "@owed/ledger";
import { type LocalPostgres, startPostgres } from "@owed/local";
import { withTemporaryFolder } from "../temporary-folder.ts";

const migrations = fileURLToPath(new URL("../../../../migrations", import.meta.url));

export type LedgerDatabase = {
  postgres: LocalPostgres;
  /** For the ledgers that are measured: what a function has. */
  options: LedgerOptions;
  /** For filling and looking: as superuser, and patient. */
  setUp: Ledger;
};

/** Two sessions, so that a large ledger is filled by both cores. */
export const setUpOptions = (options: LedgerOptions): LedgerOptions => ({
  ...options,
  applicationName: "owed-bench",
  connections: 2,
  deadline: 900,
});

/** Does some work on a new ledger, on a disk and as durable as PostgreSQL is by default; it is gone afterwards. */
export async function withLedgerDatabase<T>(work: (database: LedgerDatabase) => Promise<T>): Promise<T> {
  return await withTemporaryFolder(async (folder) => {
    const postgres = await startPostgres({ folder, port: 0, database: "owed" });
    try {
      return await onPostgres(postgres, work);
    } finally {
      await postgres.stop();
    }
  });
}

async function onPostgres<T>(
  postgres: LocalPostgres,
  work: (database: LedgerDatabase) => Promise<T>,
): Promise<T> {
  const { host, port, user, password, database } = postgres;
  const options: LedgerOptions = {
    ...{ host, port, user, password, database, tls: "off" },
    ...{ applicationName: "owed-measured", connections: 2, deadline: 20 },
  };
  await migrate({ ...options, deadline: 60 }, migrations);
  const setUp = new Ledger(setUpOptions(options));
  try {
    await refuseUnlessDurable(setUp);
    return await work({ postgres, options, setUp });
  } finally {
    await setUp.close();
  }
}

/** A server that forgets at a power failure is several times faster, and measures nothing. */
async function refuseUnlessDurable(ledger: Ledger): Promise<void> {
  const off = await ledger.run(
    (sql) => sql<{ name: string; setting: string }[]>`
      SELECT name, setting FROM pg_settings
      WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting <> 'on'`,
    { repeatable: true },
  );
  if (off.length === 0) return;
  const settings = off.map(({ name, setting }) => `${name} is ${setting}`).join(", ");
  throw new Error(`This server is not durable: ${settings}. Measure with PostgreSQL's defaults.`);
}
