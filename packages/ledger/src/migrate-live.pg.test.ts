import { randomUUID } from "node:crypto";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { expect, inject, test } from "vitest";
import { migrate } from "./migrate.ts";

const migrations = fileURLToPath(new URL("../../../migrations", import.meta.url));
/** The last migrations before one that locks the tables in use: the first of those, and one that does without an earlier one's locks. */
const older = [4, 19];

/** Migrations up to one, in a folder of their own. */
async function olderMigrations(before: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "owed-older-"));
  await cp(migrations, folder, { recursive: true });
  for (const file of await readdir(folder))
    if (!(Number.parseInt(file, 10) <= before)) await rm(join(folder, file));
  return folder;
}

test.each(older)(
  "migrating a ledger that is in use fails no transaction of the platform or of a worker: from %i",
  {
    timeout: 90_000,
  },
  async (before) => {
    const folder = await olderMigrations(before);
    const admin = postgres({ ...inject("cluster"), database: "postgres", max: 1 });
    const database = `live_${randomUUID().replaceAll("-", "")}`;
    await admin.unsafe(`CREATE DATABASE ${database}`);
    const access = { ...inject("cluster"), database };
    const options = {
      ...access,
      tls: "off",
      applicationName: "migrate",
      connections: 1,
      // A lock that is not had within a tenth of a second is let go and asked for again, as often as it takes where all are busy.
      deadline: 60,
    } as const;
    await migrate(options, folder);
    const sql = postgres({ ...access, max: 8 });
    await sql`SELECT owed.register_shipment('S-' || n, 'm', 'Shop', 'T-' || n) FROM generate_series(1, 40) n`;
    await sql`
    SELECT owed.subscribe('S-' || n, 'b' || b, 'buyer', 'email', 'a@example.com')
    FROM generate_series(1, 40) n, generate_series(1, 6) b`;

    let going = true;
    const done = { platform: 0, subscribing: 0, worker: 0 };
    const repeat = async (who: keyof typeof done, work: (turn: number) => PromiseLike<unknown>) => {
      for (let turn = 0; going; turn += 1) {
        await work(turn);
        done[who] += 1;
      }
    };
    const traffic = Promise.all([
      ...[0, 1, 2].map((one) =>
        repeat("platform", (turn) => {
          const shipment = `S-${1 + ((turn + 13 * one) % 40)}`;
          return sql`SELECT owed.record_event(${`E-${one}-${turn}`}, ${shipment}, 'out_for_delivery', clock_timestamp())`;
        }),
      ),
      // In the other order: the channel first, then the notifications.
      repeat("subscribing", (turn) =>
        sql.begin(async (transaction) => {
          const shipment = `S-${1 + (turn % 40)}`;
          await transaction`SELECT owed.subscribe(${shipment}, ${`late-${turn}`}, 'buyer', 'email', 'b@example.com')`;
          await transaction`SELECT owed.record_event(${`L-${turn}`}, ${shipment}, 'out_for_delivery', clock_timestamp())`;
        }),
      ),
      ...[0, 1].map(() =>
        repeat(
          "worker",
          () => sql`
          WITH row AS MATERIALIZED (
            SELECT id FROM owed.notification WHERE state = 'pending' AND owed_at <= now() ORDER BY owed_at LIMIT 10 FOR UPDATE SKIP LOCKED
          ), judged AS MATERIALIZED (
            SELECT row.id, moot.reason
            FROM row LEFT JOIN LATERAL (SELECT still.reason FROM owed.moot AS still WHERE still.id = row.id OFFSET 0) AS moot ON true)
          UPDATE owed.notification n SET lease_token = lease_token + 1 FROM judged WHERE n.id = judged.id`,
        ),
      ),
    ]);
    while (Math.min(done.platform, done.subscribing, done.worker) < 5)
      await Promise.race([traffic, sql`SELECT pg_sleep(0.01)`]);
    await migrate(options, migrations);
    const after = { ...done };
    while (done.platform === after.platform) await Promise.race([traffic, sql`SELECT pg_sleep(0.01)`]);
    going = false;
    await expect(traffic).resolves.toBeDefined();
    await sql.end();
    await admin.unsafe(`DROP DATABASE ${database}`);
    await admin.end();
    await rm(folder, { recursive: true });
  },
);
