import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { addHistory, oweRows } from "../database/fill.ts";
import { deliverQueued } from "../pressure/drained.ts";
import { beat } from "./leasing.ts";
import { oweAnew, sizeOf } from "./owed.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const states = async () =>
  Object.fromEntries(
    (await database.sql`SELECT state, count(*)::int AS rows FROM owed.notification GROUP BY state`).map(
      ({ state, rows }) => [state, rows],
    ),
  );

const tables = async () =>
  await database.sql`
    SELECT (SELECT count(*)::int FROM owed.shipment) AS shipments, (SELECT count(*)::int FROM owed.event) AS events,
      (SELECT count(*)::int FROM owed.subscriber) AS subscribers`;

test("a beat leases and marks what is owed, again when it is owed again, and what was queued ends delivered", async () => {
  const { ledger: setUp, options } = database;
  await addHistory(setUp, 8);
  await oweRows(setUp, 6);
  const before = await tables();
  for (const _ of ["first", "again"]) {
    expect(await states()).toEqual({ delivered: 8, pending: 6 });
    const { begin, lease, finish } = await beat({ options }, 6);
    expect(Math.min(begin, lease, finish)).toBeGreaterThan(0);
    expect(await states()).toEqual({ delivered: 8, queued: 6 });
    await oweAnew(setUp, 6);
    // As many shipments, events and subscribers as before.
    expect(await tables()).toEqual(before);
  }
  await expect(beat({ options }, 5)).rejects.toThrow("did not publish 5 rows");
  await deliverQueued(setUp);
  expect(await states()).toEqual({ delivered: 14 });
  expect((await beat({ options }, 0)).lease).toBeGreaterThanOrEqual(0);
  expect((await sizeOf(setUp)).rows).toBe(14);
});
