import { defaultDurations, Ledger, lease, readStatus } from "@owed/ledger";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { countStates } from "../../../../tests/support/ledger-rows.ts";
import { addHistory, emptyLedger, oweRows, settle } from "./fill.ts";
import { setUpOptions } from "./ledger-database.ts";
import { measure, summarise } from "./measure.ts";

let database: TestDatabase;
let setUp: Ledger;
beforeAll(async () => {
  database = await createDatabase();
  setUp = new Ledger(setUpOptions(database.options));
});
afterAll(async () => {
  await setUp.close();
  await database.drop();
});

const leaseAll = (ledger: Ledger) =>
  lease(ledger, defaultDurations, {
    shares: [{ channel: "email", most: 1000 }],
    watermark: null,
    fresh: null,
  });

test("what is filled in is what the product would have written, and all of it is due and still true", async () => {
  const { sql } = database;
  let done = 0;
  await addHistory(setUp, 15, (rows) => {
    done = rows;
  });
  await oweRows(setUp, 7);
  await settle(setUp);
  expect(done).toBe(16);
  expect(await countStates(database)).toEqual({ pending: 7, delivered: 16 });
  // Each key names what is there: the foreign keys were not looked up.
  const [wrong] = await sql`
    SELECT FROM owed.notification n
    LEFT JOIN owed.event e ON e.key = n.event_key
    LEFT JOIN owed.subscriber s ON s.id = n.subscriber_id AND s.shipment_id = e.shipment_id
    LEFT JOIN owed.rule r ON r.id = n.rule_id AND (r.status, r.role, r.channel) = (e.status, s.role, n.channel)
    LEFT JOIN owed.shipment sh ON sh.id = e.shipment_id
    WHERE sh.id IS NULL OR s.id IS NULL OR r.id IS NULL OR n.id NOT BETWEEN e.key AND owed.notification_id(e.key, 65535)`;
  expect(wrong).toBeUndefined();
  const { leased, cancelled } = await leaseAll(database.ledger);
  expect({ leased: leased.length, cancelled }).toEqual({ leased: 7, cancelled: 0 });
  expect((await readStatus(database.ledger)).states).toMatchObject({ delivered: 16 });
});

test("what is owed lies together, not where there is room on a page of the history", async () => {
  const { sql } = database;
  await emptyLedger(setUp);
  await addHistory(setUp, 2000);
  await settle(setUp);
  await oweRows(setUp, 200);
  const pages = await sql<{ state: string; pages: number }[]>`
    SELECT state, count(DISTINCT (ctid::text::point)[0])::int AS pages FROM owed.notification GROUP BY state ORDER BY state DESC`;
  const [owed, history] = pages;
  expect(pages.map(({ state }) => state)).toEqual(["pending", "delivered"]);
  expect(history?.pages).toBeGreaterThan(100);
  expect(owed?.pages).toBeLessThan(15);
  const [{ options } = {}] =
    await sql`SELECT reloptions AS options FROM pg_class WHERE oid = 'owed.notification'::regclass`;
  expect(options).toContain("fillfactor=45");
});

test("work is measured, and what the measuring itself asks is not", async () => {
  await emptyLedger(setUp);
  await oweRows(setUp, 20);
  const ledger = new Ledger({ ...database.options, connections: 1 });
  const measured = await measure(setUp, async () => {
    await ledger.run((sql) => sql`SELECT 1`, { repeatable: true });
    const { leased } = await leaseAll(ledger);
    return leased.length;
  });
  await ledger.close();
  expect(measured).toMatchObject({ rows: 20, statementsPerRow: 2 / 20 });
  expect(measured.walPerRow).toBeGreaterThan(100);
  expect(measured.rowsPerSecond).toBeCloseTo(20 / measured.seconds);
  expect(summarise([measured]).rowsPerSecond.median).toBeGreaterThan(0);
});
