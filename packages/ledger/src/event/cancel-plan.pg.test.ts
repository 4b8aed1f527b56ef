import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { openSession } from "../testing/session.ts";

// A ledger of follow-ups that all wait, of shipments to which much has happened.
const shipments = 120;
const buyers = 4;
const events = 20;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  const { sql } = database;
  await sql`SELECT owed.register_shipment('S-' || n, 'm', 'Shop', 'T') FROM generate_series(1, ${shipments}::int) n`;
  await sql`
    SELECT owed.subscribe('S-' || n, 'buyer-' || b, 'buyer', 'email', 'a@example.com')
    FROM generate_series(1, ${shipments}::int) n, generate_series(1, ${buyers}::int) b`;
  for (let place = 1; place <= events; place += 1)
    await sql`
      SELECT owed.record_event(n || '-' || ${place}::int, 'S-' || n, 'out_for_delivery', now() - make_interval(mins => 60 - ${place}::int))
      FROM generate_series(1, ${shipments}::int) n`;
  await sql.begin(async (transaction) => {
    await transaction`SET LOCAL session_replication_role = replica`;
    await transaction`
      UPDATE owed.notification SET state = 'pending', cancelled_at = NULL, cancelled_by = NULL, reason = NULL, owed_at = due_at
      WHERE state = 'cancelled'`;
  });
  await sql`VACUUM ANALYZE owed.notification, owed.event, owed.subscriber, owed.shipment`;
});
afterAll(() => database.drop());

test.each(["force_custom_plan", "force_generic_plan"])(
  "an event cancels what it makes moot, by its keys and nothing else's: %s",
  async (plans) => {
    const shipment = plans === "force_custom_plan" ? "S-1" : "S-2";
    // A session of its own: what it has not told yet is what it did here.
    const session = openSession(database, "cancelling");
    const [read] = await session.begin(async (sql) => {
      await sql`SELECT set_config('plan_cache_mode', ${plans}, true)`;
      await sql`SELECT owed.record_event(${`now-${plans}`}, ${shipment}, 'delivered', now())`;
      return sql<{ scans: number; fetched: number }[]>`
        SELECT seq_scan::int AS scans, idx_tup_fetch::int AS fetched
        FROM pg_stat_xact_user_tables WHERE relid = 'owed.notification'::regclass`;
    });
    await session.end();
    expect(read?.scans).toBe(0);
    // Its own of each event: looked at, judged beside their like, locked and written.
    expect(read?.fetched).toBeLessThan(30 * events * buyers);
    const left = await database.sql`
      SELECT n.state, count(*)::int AS rows FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
      WHERE e.shipment_id = ${shipment} GROUP BY 1 ORDER BY 1`;
    expect(left).toEqual([
      { state: "cancelled", rows: events * buyers },
      { state: "pending", rows: buyers },
    ]);
  },
);
