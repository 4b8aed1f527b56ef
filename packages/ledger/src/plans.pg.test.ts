import type postgres from "postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import {
  audit,
  beginSweep,
  claim,
  defaultDurations,
  finishSweep,
  Ledger,
  lease,
  leaseOwn,
  lookAgain,
  markQueued,
  record,
  recordEvidence,
  replay,
} from "./index.ts";
import { openSession } from "./testing/session.ts";
import { summariseNothing } from "./testing/summaries.ts";

// A ledger whose shipments have moved on several times: what a sweep meets after an outage.
const shipments = 120;
const buyers = 50;

const none = { leased: 0, published: 0, failed: 0, cancelled: 0, rescued: 0, unknown: 0, resent: 0 };

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await summariseNothing(database);
  const sql = openSession(database, "planned");
  // Statistics from the middle of the filling would be neither of the two cases.
  await sql`ALTER TABLE owed.notification SET (autovacuum_enabled = off)`;
  await sql`SELECT owed.register_shipment('S-' || n, 'm', 'Shop', 'T-' || n) FROM generate_series(1, ${shipments}::int) n`;
  await sql`
    SELECT owed.subscribe('S-' || n, 'buyer-' || b, 'buyer', 'email', 'a@example.com')
    FROM generate_series(1, ${shipments}::int) n, generate_series(1, ${buyers}::int) b`;
  for (const [hour, status] of ["picked_up", "customs_released", "out_for_delivery", "delivered"].entries())
    await sql`
      SELECT owed.record_event(${status} || n, 'S-' || n, ${status}, now() - make_interval(hours => ${9 - hour}))
      FROM generate_series(1, ${shipments}::int) n`;
  await sql.begin(async (transaction) => {
    await transaction`SET LOCAL session_replication_role = replica`;
    await transaction`
      -- As after an outage in which no event could cancel what came before it.
      UPDATE owed.notification SET state = 'pending', cancelled_at = NULL, cancelled_by = NULL, reason = NULL, owed_at = due_at
      WHERE state = 'cancelled'`;
    await transaction`
      UPDATE owed.notification SET state = 'delivered', delivered_at = now(), evidence = 'reply', outcome = 'accepted',
        owed_at = NULL WHERE right(id::text, 4) > '000a'`;
    // Its own scan is told at once, not in the middle of a test.
    await transaction`SELECT pg_stat_force_next_flush()`;
  });
  await sql.end();
});
afterAll(() => database.drop());

/** Sequential scans of the notifications so far, once the sessions that ran them have ended and told theirs. */
async function scans(): Promise<number> {
  const { options, sql } = database;
  return vi.waitFor(async () => {
    const sessions = await sql`
      SELECT FROM pg_stat_activity WHERE datname = ${options.database} AND application_name = 'planned'`;
    expect(sessions).toHaveLength(0);
    const [row] = await sql<{ scans: number }[]>`
      SELECT seq_scan::int AS scans FROM pg_stat_user_tables WHERE relid = 'owed.notification'::regclass`;
    return row?.scans ?? 0;
  });
}

/** Two events: one of a shipment that is new, one of the oldest. What is there fell due after the last beat, which left nothing. */
async function recordedNow(sql: postgres.Sql, turn: string): Promise<string[]> {
  const id = turn.replaceAll(" ", "-");
  await sql`UPDATE owed.heartbeat SET beat_at = now() - interval '100 s'`;
  await sql`SELECT owed.register_shipment(${id}, 'm', 'Shop', 'T')`;
  await sql`
    SELECT owed.subscribe(${id}, 'buyer-' || b, 'buyer', 'email', 'a@example.com') FROM generate_series(1, 2) b`;
  const events = [id, `S-1-${id}`];
  for (const [place, event] of events.entries())
    await sql`SELECT owed.record_event(${event}, ${place === 0 ? id : "S-1"}, 'delivery_exception', now())`;
  return events;
}

test.each(["without statistics", "with statistics"])(
  "%s, nothing on the way of a row scans the ledger",
  async (which) => {
    await database.sql`TRUNCATE owed.suppression`;
    if (which === "with statistics") await database.sql`ANALYZE`;
    const before = await scans();
    const ledger = new Ledger({ ...database.options, connections: 1, applicationName: "planned" });
    const platform = openSession(database, "planned");
    for (let turn = 0; turn < 8; turn += 1) {
      const beginning = await beginSweep(ledger, defaultDurations);
      if (!beginning.taken) throw new Error(beginning.why);
      const slice = await lease(ledger, defaultDurations, {
        shares: [{ channel: "email", most: 100 }],
        watermark: null,
        // The first turns take the share of fresh rows, the others the backlog.
        fresh: turn < 4 ? 3600 : null,
      });
      expect(slice.leased.length + slice.cancelled).toBe(100);
      await lookAgain(ledger, defaultDurations, { limit: 100, queued: "look", unknown: "look" });
      await markQueued(ledger, defaultDurations, slice.leased);
      const messages = slice.leased.slice(0, 10).map(({ id, generation }, place) => ({
        id,
        generation,
        messageId: `m-${place}`,
        sentAt: Date.now(),
      }));
      const verdicts = await claim(ledger, defaultDurations, messages);
      const results = messages.flatMap(({ id }, place) => {
        const verdict = verdicts[place];
        return verdict?.verdict === "claimed"
          ? [{ id, token: verdict.token, outcome: { kind: "unknown", reason: "x" } as const }]
          : [];
      });
      await record(ledger, defaultDurations, results);
      await recordEvidence(
        ledger,
        results.slice(0, 5).map(({ id }) => ({
          id,
          at: null,
          provider: "ses",
          providerMessageId: id,
          outcome: "bounced",
          detail: "bounced",
          suppress: turn === 7,
          evidence: "feedback",
          queuedAt: null,
        })),
      );
      await replay(
        ledger,
        results.slice(5).map(({ id }) => id),
        { actor: "a", why: "w" },
        "replayed",
      );
      expect(await audit(ledger, { shipmentId: "S-7" })).toHaveLength(4 * buyers);
      await finishSweep(ledger, defaultDurations, beginning.run, none, null);
      const events = await recordedNow(platform, `${which} ${turn}`);
      const own = await leaseOwn(ledger, defaultDurations, { events, every: 60, queued: 50_000 });
      expect(own.leased.length).toBeGreaterThanOrEqual(2);
    }
    await ledger.close();
    await platform.end();
    expect(await scans()).toBe(before);
  },
);
