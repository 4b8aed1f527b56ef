import { join } from "node:path";
import Postgrator from "postgrator";
import postgres from "postgres";
import type { LedgerOptions } from "./connect/ledger.ts";

/** "owed" in ASCII: any two runners meet at the same lock. */
const lockKey = 0x6f776564;

/**
 * Brings the schema up to the newest migration in `folder`. All of them run in one transaction under an
 * advisory lock: runners that start at once wait for each other, and a failure leaves the schema as it was. A
 * changed checksum of a migration that has run is refused. Waits at most five seconds for a table in use, so
 * that live traffic never queues behind it. Returns the names of the migrations that ran.
 */
export async function migrate(options: LedgerOptions, folder: string): Promise<string[]> {
  const sql = postgres({
    host: options.host,
    port: options.port,
    database: options.database,
    user: options.user,
    password: options.password,
    ssl: options.tls === "verify" ? { rejectUnauthorized: true, servername: options.host } : false,
    max: 1,
    connect_timeout: 4,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: options.applicationName, TimeZone: "UTC", lock_timeout: 5000 },
  });
  try {
    return await sql.begin(async (transaction) => {
      // The lock itself is waited for: another runner may be at work for long.
      await transaction`SELECT set_config('lock_timeout', '0', true), pg_advisory_xact_lock(${lockKey})`;
      await transaction`SELECT set_config('lock_timeout', '5000', true)`;
      await transaction`CREATE SCHEMA IF NOT EXISTS owed`;
      const runner = new Postgrator({
        driver: "pg",
        migrationPattern: join(folder, "*.sql"),
        schemaTable: "owed.migration",
        newline: "LF",
        execQuery: async (query) => ({ rows: [...(await transaction.unsafe(query))] }),
      });
      const applied = await runner.migrate();
      return applied.map((migration) => `${migration.version} ${migration.name}`);
    });
  } finally {
    await sql.end({ timeout: 2 });
  }
}
