import { join } from "node:path";
import Postgrator from "postgrator";
import { asUnavailable, MigrationFailed } from "./connect/errors.ts";
import type { LedgerOptions } from "./connect/ledger.ts";
import { openSession, type Session } from "./migrate-session.ts";

/** "owed" in ASCII: any two runners meet at the same lock. */
const lockKey = 0x6f776564;

/** Seconds. */
export type Waits = {
  /** For a table in use, so that live traffic never queues behind a migration for longer. */
  lockTimeout?: number;
  /** For another runner, who may be at work for long. */
  runnerTimeout?: number;
};

/**
 * Brings the schema up to the newest migration in `folder`. All of them run in one transaction under an
 * advisory lock: runners that start at once wait for each other, and a failure leaves the schema as it was. A
 * changed checksum of a migration that has run is refused. `options.deadline` is for each migration. Returns the names
 * of the migrations that ran; throws `MigrationFailed` or `LedgerUnavailable`.
 */
export async function migrate(
  options: LedgerOptions,
  folder: string,
  { lockTimeout = 5, runnerTimeout = 120 }: Waits = {},
): Promise<string[]> {
  try {
    const session = await openSession(options);
    try {
      await session.run("BEGIN");
      await takeLock(session, runnerTimeout);
      await session.run(`
        SET LOCAL lock_timeout = ${milliseconds(lockTimeout)};
        SET LOCAL statement_timeout = ${milliseconds(options.deadline)}`);
      await session.run("CREATE SCHEMA IF NOT EXISTS owed");
      const applied = await run(folder, (text) => session.run(text));
      await session.run("COMMIT");
      return applied;
    } finally {
      await session.end();
    }
  } catch (error) {
    throw asUnavailable(error) ?? error;
  }
}

/** In PostgreSQL's settings 0 would be no limit at all. */
const milliseconds = (seconds: number) => Math.max(1, Math.round(seconds * 1000));

/** Any role of the database can take the lock: who keeps it for too long is named. */
async function takeLock(session: Session, seconds: number): Promise<void> {
  await session.run(`SET LOCAL lock_timeout = ${milliseconds(seconds)}`);
  try {
    // The server gives up first.
    await session.run(`SELECT pg_advisory_xact_lock(${lockKey})`, seconds + 5);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "55P03")) throw error;
    await session.run("ROLLBACK");
    const holders = await session.run(`
      SELECT pid, usename AS user, application_name AS application FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = ${lockKey} AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
    const named = holders.map(({ pid, user, application }) => `process ${pid} of ${user} (${application})`);
    const [first = { pid: "pid" }] = holders;
    throw new MigrationFailed(
      `the migrations' lock was held for ${seconds} s by ${named.join(", ") || "a process that has ended since"}; migrate again when it has ended, or end it with SELECT pg_terminate_backend(${first.pid})`,
    );
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
