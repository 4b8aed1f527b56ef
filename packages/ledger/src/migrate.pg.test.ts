import { randomUUID } from "node:crypto";
import { appendFile, cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { afterAll, afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { describeSchema } from "../../../tests/support/describe-schema.ts";
import { LedgerUnavailable, MigrationFailed } from "./connect/errors.ts";
import type { LedgerOptions } from "./connect/ledger.ts";
import { migrate } from "./migrate.ts";

const migrations = fileURLToPath(new URL("../../../migrations", import.meta.url));
const files = (await readdir(migrations)).filter((file) => file.includes(".do.")).sort();
const all = files.map((file) => file.replace(/^0*(\d+)\.do\.(.+)\.sql$/, "$1 $2"));
const name = `migrate_${randomUUID().replaceAll("-", "")}`;
const options: LedgerOptions = {
  ...inject("cluster"),
  database: name,
  tls: "off",
  applicationName: "migrate-test",
  connections: 1,
  deadline: 10,
};

const admin = postgres({ ...inject("cluster"), database: "postgres", max: 1, onnotice: () => {} });
let sql: postgres.Sql;
/** A copy of the migrations, for a test to change. */
let folder: string;

beforeEach(async () => {
  await admin.unsafe(`CREATE DATABASE ${name}`);
  sql = postgres({ ...inject("cluster"), database: name, max: 2, onnotice: () => {} });
  folder = await mkdtemp(join(tmpdir(), "owed-migrations-"));
  await cp(migrations, folder, { recursive: true });
});
afterEach(async () => {
  await sql.end({ timeout: 1 });
  await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
  await rm(folder, { recursive: true });
});
afterAll(() => admin.end());

const refusal = (act: Promise<unknown>) => act.then(() => null).catch((error: Error) => error);

describe("a run", () => {
  test("applies every migration in order, and the next run nothing", async () => {
    expect(await migrate(options, migrations)).toEqual(all);
    const schema = await describeSchema(sql);
    expect(await migrate(options, migrations)).toEqual([]);
    expect(await describeSchema(sql)).toBe(schema);
    expect(
      await sql`SELECT status FROM owed.rule WHERE status = 'picked_up' AND channel = 'email'`,
    ).toHaveLength(1);
  });

  test("applies only what is new", async () => {
    await migrate(options, folder);
    await writeFile(join(folder, "900000.do.extra.sql"), "CREATE TABLE owed.extra (id int)");
    expect(await migrate(options, folder)).toEqual(["900000 extra"]);
  });

  test("raced by eight runners: all succeed, each migration is applied once", async () => {
    const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(options, migrations)));
    expect(applied.filter((names) => names.length > 0)).toEqual([all]);
    expect(await sql`SELECT version::int, count(*)::int FROM owed.migration GROUP BY 1 ORDER BY 1`).toEqual(
      Array.from({ length: all.length + 1 }, (_, version) => ({ version, count: 1 })),
    );
  });

  test("leaves an older folder's newer database as it is", async () => {
    await migrate(options, migrations);
    await rm(join(folder, files.at(-1) ?? ""));
    expect(await migrate(options, folder)).toEqual([]);
    expect(await sql`SELECT max(version)::int AS version FROM owed.migration`).toEqual([
      { version: all.length },
    ]);
  });
});

test("where something was sent before migration 20 is an address of before, once, unless it is the address now", async () => {
  for (const file of files.slice(19)) await rm(join(folder, file));
  await migrate(options, folder);
  await sql`SELECT owed.register_shipment('S', 'M', 'Shop', 'T')`;
  const address = { ann: "ann@old.example", ben: "ben@example.com", cem: "cem@example.com" };
  for (const [recipient, given] of Object.entries(address))
    await sql`SELECT owed.subscribe('S', ${recipient}, 'buyer', 'email', ${given})`;
  for (const status of ["picked_up", "out_for_delivery"])
    await sql`SELECT owed.record_event(${status}, 'S', ${status}, now())`;
  await sql.begin(async (transaction) => {
    await transaction`SET LOCAL session_replication_role = replica`;
    await transaction`
      UPDATE owed.notification n SET sent_to = s.address FROM owed.subscriber s
      WHERE s.id = n.subscriber_id AND s.recipient_id <> 'cem'`;
    await transaction`
      INSERT INTO owed.notification_archive SELECT * FROM owed.notification WHERE sent_to = ${address.ben}`;
    await transaction`DELETE FROM owed.notification WHERE sent_to = ${address.ben}`;
  });
  await sql`SELECT owed.subscribe('S', 'ann', 'buyer', 'email', 'ann@new.example')`;
  await sql`SELECT owed.subscribe('S', 'cem', 'buyer', 'email', 'cem@new.example')`;
  await migrate(options, migrations);
  const former = () => sql`
    SELECT s.recipient_id AS recipient, f.address FROM owed.former_address f JOIN owed.subscriber s ON s.id = f.subscriber_id
    ORDER BY f.subscriber_id`;
  expect(await former()).toEqual([{ recipient: "ann", address: address.ann }]);
  await sql`SELECT owed.subscribe('S', 'ben', 'buyer', 'email', NULL)`;
  expect(await former()).toEqual([
    { recipient: "ann", address: address.ann },
    { recipient: "ben", address: address.ben },
  ]);
});

describe("is refused", () => {
  test("when a migration that has run was changed, by name and with the way out", async () => {
    await migrate(options, folder);
    await appendFile(join(folder, "000002.do.notification.sql"), "\n-- a late thought\n");
    await writeFile(join(folder, "900000.do.extra.sql"), "CREATE TABLE owed.extra (id int)");
    const error = await refusal(migrate(options, folder));
    expect(error).toBeInstanceOf(MigrationFailed);
    expect(error?.message).toMatch(/^migration 2 \(notification\) has changed .*; restore its file/);
    expect(await sql`SELECT to_regclass('owed.extra') AS extra`).toEqual([{ extra: null }]);
  });

  test("but not for other line ends, as Windows writes them", async () => {
    await migrate(options, folder);
    const file = join(folder, "000001.do.shipment.sql");
    await writeFile(file, (await readFile(file, "utf8")).replaceAll("\n", "\r\n"));
    expect(await migrate(options, folder)).toEqual([]);
  });

  test("when one fails: nothing of it or of its predecessors is left, and a corrected one runs", async () => {
    const broken = join(folder, "900000.do.broken.sql");
    await writeFile(broken, "CREATE TABLE owed.half (id int); SELECT 1 / 0;");
    const error = await refusal(migrate(options, folder));
    expect(error).toBeInstanceOf(MigrationFailed);
    expect(error?.message).toBe(
      "migration 900000 (broken) failed, and nothing was changed (division by zero)",
    );
    expect(await sql`SELECT to_regnamespace('owed') AS schema`).toEqual([{ schema: null }]);

    await writeFile(broken, "CREATE TABLE owed.half (id int)");
    expect(await migrate(options, folder)).toEqual([...all, "900000 broken"]);
  });

  test("when the folder holds none", async () => {
    const error = await refusal(migrate(options, join(folder, "elsewhere")));
    expect(error?.message).toMatch(/^there are no migrations in .*elsewhere: is it the right folder\?$/);
  });

  test("when nothing listens", async () => {
    const error = await refusal(migrate({ ...options, port: 1 }, migrations));
    expect(error).toBeInstanceOf(LedgerUnavailable);
  });
});

describe("waits", () => {
  test("for a table in use no longer than the lock timeout, so that traffic never queues behind it", async () => {
    await migrate(options, folder);
    await writeFile(
      join(folder, "900000.do.wide.sql"),
      "ALTER TABLE owed.notification ADD COLUMN extra text",
    );
    await sql.begin(async (traffic) => {
      await traffic`LOCK TABLE owed.notification IN ROW EXCLUSIVE MODE`;
      const error = await refusal(migrate(options, folder, { lockTimeout: 0.05 }));
      expect(error?.message).toBe(
        "migration 900000 (wide) failed, and nothing was changed (canceling statement due to lock timeout)",
      );
    });
    expect(await migrate(options, folder)).toEqual(["900000 wide"]);
  });

  test("for another runner longer than the lock timeout", async () => {
    let late: Promise<string[]> | undefined;
    await sql.begin(async (runner) => {
      await runner`SELECT pg_advisory_xact_lock(${0x6f776564})`;
      late = migrate(options, migrations, { lockTimeout: 0.05 });
      await vi.waitFor(
        async () => {
          const [waiting] = await sql`
            SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND clock_timestamp() - waitstart > interval '150 ms'`;
          expect(waiting).toBeDefined();
        },
        { timeout: 5000, interval: 20 },
      );
    });
    expect(await late).toEqual(all);
  });

  test("but not for ever: who holds the lock is named, with the way out", async () => {
    await sql.begin(async (holder) => {
      await holder.unsafe(`SET LOCAL application_name = 'owed-deliver'`);
      const [{ pid } = {}] = await holder<
        { pid: number }[]
      >`SELECT pg_backend_pid() AS pid, pg_advisory_xact_lock(${0x6f776564})`;
      const error = await refusal(migrate(options, migrations, { runnerTimeout: 0.05 }));
      expect(error).toBeInstanceOf(MigrationFailed);
      expect(error?.message).toBe(
        `the migrations' lock was held for 0.05 s by process ${pid} of ${options.user} (owed-deliver); migrate again when it has ended, or end it with SELECT pg_terminate_backend(${pid})`,
      );
    });
    expect(await migrate(options, migrations)).toEqual(all);
  });
});

describe("a connection that is cut", () => {
  /** Ends the runner's session, as soon as it waits for what is said here. */
  const terminate = (waitsFor: string) =>
    vi.waitFor(
      async () => {
        const cut = await sql`
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'migrate-test' AND datname = ${name} AND wait_event = ${waitsFor}`;
        expect(cut).toHaveLength(1);
      },
      { timeout: 5000, interval: 5 },
    );

  test("while it waits for another runner: unavailable, and the process lives on", async () => {
    await sql.begin(async (runner) => {
      await runner`SELECT pg_advisory_xact_lock(${0x6f776564})`;
      const cut = refusal(migrate(options, migrations));
      await terminate("advisory");
      const error = await cut;
      expect(error).toBeInstanceOf(LedgerUnavailable);
      expect(error?.message).toMatch(
        /^the ledger's database does not answer \(.+\); check that PostgreSQL runs/,
      );
    });
    expect(await migrate(options, migrations)).toEqual(all);
  });

  test("in the middle of a migration: nothing was changed", async () => {
    await writeFile(join(folder, "900000.do.slow.sql"), "CREATE TABLE owed.slow (); SELECT pg_sleep(30)");
    const cut = refusal(migrate(options, folder));
    await terminate("PgSleep");
    const error = await cut;
    expect(error).toBeInstanceOf(MigrationFailed);
    expect(error?.message).toMatch(/^migration 900000 \(slow\) failed, and nothing was changed \(/);
    expect(await sql`SELECT to_regnamespace('owed') AS schema`).toEqual([{ schema: null }]);
  });

  test("or silent: no longer than its deadline, and the server does not go on with it", async () => {
    await writeFile(join(folder, "900000.do.slow.sql"), "SELECT pg_sleep(30)");
    await migrate(options, migrations);
    const error = await refusal(migrate({ ...options, deadline: 0.3 }, folder));
    expect(error?.message).toMatch(
      /^migration 900000 \(slow\) failed, and nothing was changed \(.*(no answer within 0.3 s|statement timeout)/,
    );
    await rm(join(folder, "900000.do.slow.sql"));
    expect(await migrate(options, folder, { runnerTimeout: 5 })).toEqual([]);
  });
});
