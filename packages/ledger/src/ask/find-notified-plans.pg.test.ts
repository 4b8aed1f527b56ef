import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { Ledger } from "../connect/ledger.ts";
import { summariseNothing } from "../testing/summaries.ts";
import { countStopped } from "./count-stopped.ts";
import { findNotified } from "./find-notified.ts";
import { listBeats } from "./list-beats.ts";
import { readCourse } from "./read-course.ts";
import { readPulse } from "./read-pulse.ts";

// A history of two months: half of it in the archive.
const rows = 12_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await summariseNothing(database);
  await database.sql.begin(async (sql) => {
    await sql`SELECT owed.register_shipment('S', 'M-1', 'Shop', 'T')`;
    await sql`SET LOCAL session_replication_role = replica`;
    await sql`
      INSERT INTO owed.shipment (id, merchant_id, tracking_number) SELECT 'S-' || n, 'M-1', 'T' FROM generate_series(1, ${rows}::int) n`;
    await sql`
      INSERT INTO owed.subscriber (shipment_id, recipient_id, role, channel, address)
      SELECT 'S-' || n, 'buyer-' || n, 'buyer', 'email', 'buyer' || n || '@example.com' FROM generate_series(1, ${rows}::int) n`;
    await sql`
      WITH happened AS (
        INSERT INTO owed.event (key, id, shipment_id, status, occurred_at, recorded_at)
        SELECT rpad(lpad(to_hex(n), 12, '0'), 32, '0')::uuid, 'E-' || n, 'S-' || n, 'delivered', at, at
        FROM (SELECT n, now() - interval '60 days' * (1 - n::float8 / ${rows}) AS at FROM generate_series(1, ${rows}::int) n) AS one
        RETURNING *)
      INSERT INTO owed.notification (id, event_key, due_at, subscriber_id, rule_id, channel, state, delivered_at, evidence,
        provider_message_id)
      SELECT owed.notification_id(e.key, 1), e.key, e.occurred_at, s.id, 1, 'email', 'delivered', e.occurred_at, 'reply',
        md5(e.id)
      FROM happened e JOIN owed.subscriber s USING (shipment_id) ORDER BY e.key`;
    await sql`
      INSERT INTO owed.former_address (subscriber_id, address) SELECT id, 'then-' || address FROM owed.subscriber`;
    await sql`
      WITH old AS (DELETE FROM owed.notification WHERE due_at < now() - interval '30 days' RETURNING *)
      INSERT INTO owed.notification_archive SELECT * FROM old`;
  });
  await database.sql`VACUUM ANALYZE`;
  // The set-up's own scans are told when its sessions end, not a second later among those of the questions.
  await database.sql`
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = ${database.options.database} AND pid <> pg_backend_pid()`;
  await database.sql`SELECT pg_stat_force_next_flush()`;
});
afterAll(() => database.drop());

const asked = [
  "notification",
  "notification_archive",
  "subscriber",
  "former_address",
  "event",
  "shipment",
  "attempt",
];

/** Scans so far, whole ones of the tables and of each index, once the sessions that ran them have told theirs. */
async function scans(): Promise<{ whole: number; of: Map<string, number> }> {
  const { options, sql } = database;
  return vi.waitFor(async () => {
    const sessions = await sql`
      SELECT FROM pg_stat_activity WHERE datname = ${options.database} AND application_name = 'planned'`;
    expect(sessions).toHaveLength(0);
    const [row] = await sql<{ whole: number }[]>`
      SELECT sum(seq_scan)::int AS whole FROM pg_stat_user_tables WHERE schemaname = 'owed' AND relname = ANY (${asked})`;
    const indexes = await sql<{ name: string; scans: number }[]>`
      SELECT indexrelname AS name, idx_scan::int AS scans FROM pg_stat_user_indexes WHERE schemaname = 'owed'`;
    return { whole: row?.whole ?? 0, of: new Map(indexes.map(({ name, scans }) => [name, scans])) };
  }, 10_000);
}

const messageOf = (event: number) => createHash("md5").update(`E-${event}`).digest("hex");

const find = (by: "recipient" | "address" | "message", value: string) => async (ledger: Ledger) => {
  const found = await findNotified(ledger, { by, value, most: 20 });
  expect(found).toMatchObject([{ notifications: 1 }]);
};

const message = "notification_message notification_archive_message attempt_message old_send_message";
const address = "subscriber_address former_address_found";
test.each<[what: string, indexes: string, ask: (ledger: Ledger) => Promise<unknown>]>([
  ["a recipient", "subscriber_recipient", find("recipient", "buyer-77")],
  ["an address", address, find("address", "Buyer77@example.com")],
  ["an address of before", address, find("address", "then-buyer11000@example.com")],
  ["a message", message, find("message", messageOf(11_000))],
  ["the course", "notification_due", (ledger) => readCourse(ledger, { seconds: 3600, step: 60 })],
  ["the pulse", "notification_owed notification_stopped", readPulse],
  ["what waits for a person", "notification_stopped", countStopped],
  ["the last sweeps", "", (ledger) => listBeats(ledger, 10)],
])(
  "%s is found by indexes alone, with a plan for any value, and with one for this",
  async (_, indexes, ask) => {
    for (const plans of ["generic", "auto"] as const) {
      const before = await scans();
      const ledger = new Ledger({ ...database.options, connections: 1, applicationName: "planned", plans });
      for (let turn = 0; turn < 6; turn += 1) await ask(ledger);
      await ledger.close();
      const after = await scans();
      expect({ plans, whole: after.whole }).toEqual({ plans, whole: before.whole });
      for (const name of indexes.split(" ").filter(Boolean))
        expect(after.of.get(name), `${plans}: ${name}`).toBeGreaterThan(before.of.get(name) ?? 0);
    }
  },
);
