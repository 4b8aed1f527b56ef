import { join } from "node:path";
import Postgrator from "postgrator";
import postgres from "postgres";
import { accessOf } from "./connect/access.ts";
import { asUnavailable, MigrationFailed } from "./connect/errors.ts";
import type { LedgerOptions } from "./connect/ledger.ts";
import { Login } from "./connect/login.ts";

/** "owed" in ASCII: any two runners meet at the same lock. */
const lockKey = 0x6f776564;

/**
 * Brings the schema up to the newest migration in `folder`. All of them run in one transaction under an
 * advisory lock: runners that start at once wait for each other, and a failure leaves the schema as it was. A
 * changed checksum of a migration that has run is refused. Waits at most `lockTimeout` seconds for a table in
 * use, so that live traffic never queues behind it for longer. Returns the names of the migrations that ran;
 * throws `MigrationFailed` or `LedgerUnavailable`.
 */
export async function migrate(
  options: LedgerOptions,
  folder: string,
  { lockTimeout = 5 }: { lockTimeout?: number } = {},
): Promise<string[]> {
  const login = new Login(options.password);
  const sql = postgres({
    ...accessOf({ ...options, password: login.password }),
    max: 1,
    connection: { application_name: options.applicationName, TimeZone: "UTC" },
  });
  try {
    return await sql.begin(async (transaction) => {
      // The lock itself is waited for: another runner may be at work for long.
      await transaction`SELECT pg_advisory_xact_lock(${lockKey})`;
      await transaction`SELECT set_config('lock_timeout', ${`${Math.round(lockTimeout * 1000)}ms`}, true)`;
      await transaction`CREATE SCHEMA IF NOT EXISTS owed`;
      return await run(folder, async (query) => [...(await transaction.unsafe(query))]);
    });
  } catch (error) {
    const cause = login.explain(error);
    throw asUnavailable(cause) ?? cause;
  } finally {
    await sql.end({ timeout: 2 });
  }
}

async function run(folder: string, query: (text: string) => Promise<unknown[]>): Promise<string[]> {
  const runner = new Postgrator({
    driver: "pg",
    migrationPattern: join(folder, "*.sql"),
    schemaTable: "owed.migration",
    newline: "LF",
    execQuery: async (text) => ({ rows: await query(text) }),
  });
  if ((await runner.getMigrations()).length === 0)
    throw new MigrationFailed(`there are no migrations in ${folder}: is it the right folder?`);

  let current = "reading the migrations";
  const note = ({ version, name }: Postgrator.Migration) => {
    current = `migration ${version} (${name})`;
  };
  runner.on("validation-started", note);
  runner.on("migration-started", note);
  try {
    return (await runner.migrate()).map(({ version, name }) => `${version} ${name}`);
  } catch (error) {
    const changed = error instanceof Error && error.message.startsWith("MD5 checksum failed");
    const what = changed
      ? `${current} has changed since it ran on this database; restore its file, and put the change into a new migration`
      : `${current} failed, and nothing was changed`;
    throw new MigrationFailed(what, error);
  }
}
