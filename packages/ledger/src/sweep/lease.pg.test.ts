import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { owe, registerShipment } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { Ledger } from "../connect/ledger.ts";
import { nothing, take } from "../testing/act.ts";
import { empty, newRow, readRow, readTries, rewriteRules, secondsUntil } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const ago = (seconds: number) => ({ owed_at: `now() - interval '${seconds} s'` });
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

describe("a slice", () => {
  test("leases what is due: the token rises, the lease ends in two minutes, the generation stays", async () => {
    const id = await newRow(database, "pending", { generation: "2", lease_token: "7" });
    const slice = await take(database);
    const [subscriber] =
      await database.sql`SELECT subscriber_id::text AS id FROM owed.notification WHERE id = ${id}`;
    expect(slice).toEqual({
      leased: [{ id, generation: 2, token: 8, group: subscriber?.id }],
      taken: new Map([["email", { rows: 1, leased: 1 }]]),
      cancelled: 0,
      watermark: expect.any(String),
      until: expect.any(String),
    });
    const row = await readRow(database, id);
    expect(row).toMatchObject({
      state: "leased",
      lease_token: 8,
      generation: 2,
      attempts: 0,
      queued_at: null,
    });
    expect(row.leased_until).toEqual(row.owed_at);
    expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(120, -1);
    expect(await readTries(database, id)).toEqual([]);
  });

  test("takes the oldest first, up to its limit, and leaves what is not due yet", async () => {
    const [new_, old, middle] = [
      await newRow(database, "pending", ago(1)),
      await newRow(database, "pending", ago(30)),
      await newRow(database, "pending", ago(9)),
    ];
    await newRow(database, "pending", { owed_at: "now() + interval '1 s'" });
    expect(ids((await take(database, { most: 2 })).leased)).toEqual([old, middle]);
    expect(ids((await take(database, { most: 2 })).leased)).toEqual([new_]);
    expect(await take(database)).toEqual(nothing);
  });

  test("takes rows of one time in the order of their ids, so that a group keeps its events' order", async () => {
    await rewriteRules(database, "newest_replaces = false");
    const shipment = await registerShipment(database);
    for (const status of ["picked_up", "customs_hold", "customs_released", "out_for_delivery"])
      await database.sql`SELECT owed.record_event(${`E-${randomUUID()}`}, ${shipment}, ${status}, clock_timestamp())`;
    await database.sql`UPDATE owed.notification SET owed_at = '2020-01-01' WHERE due_at <= now()`;
    const [{ order } = { order: null }] =
      await database.sql`SELECT array_agg(id::text ORDER BY id) AS order FROM owed.notification WHERE due_at <= now()`;
    expect(order).toHaveLength(4);
    expect(ids((await take(database)).leased)).toEqual(order);
    await rewriteRules(database, "newest_replaces = true");
  });

  test("L1: an expired lease is owed again, under a new token", async () => {
    const id = await newRow(database);
    await take(database);
    await passTime(database.sql, 119);
    expect(await take(database)).toEqual(nothing);
    await passTime(database.sql, 1);
    expect((await take(database)).leased).toEqual([expect.objectContaining({ id, token: 2, generation: 0 })]);
  });
});

describe("side by side", () => {
  test("five sweeps at once lease each row once", async () => {
    await owe(database, 600);
    const leased: string[] = [];
    const ledgers = Array.from({ length: 5 }, () => new Ledger({ ...database.options, connections: 1 }));
    await Promise.all(
      ledgers.map(async (ledger) => {
        for (;;) {
          const slice = await take({ ledger }, { most: 37 });
          expect(slice.leased.length).toBeLessThanOrEqual(37);
          if (slice.leased.length === 0) return;
          leased.push(...ids(slice.leased));
        }
      }),
    );
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    // A sweep that finds all rows locked ends early: another one has them.
    leased.push(...ids((await take(database, { most: 1000 })).leased));
    expect(leased).toHaveLength(600);
    expect(new Set(leased).size).toBe(600);
    expect(await database.sql`SELECT DISTINCT lease_token FROM owed.notification`).toEqual([
      { lease_token: 1 },
    ]);
  });

  test("skips a row that somebody holds, without waiting", async () => {
    const held = await newRow(database, "pending", ago(60));
    const free = await newRow(database, "pending", ago(30));
    await database.sql.begin(async (other) => {
      await other`SELECT FROM owed.notification WHERE id = ${held} FOR UPDATE`;
      expect(ids((await take(database)).leased)).toEqual([free]);
    });
    expect(ids((await take(database)).leased)).toEqual([held]);
  });
});

describe("the watermark", () => {
  test("is the slice's lowest time, exact to the microsecond, and the next slice begins there", async () => {
    const first = await newRow(database, "pending", { owed_at: "'2026-01-01 00:00:00.123456Z'" });
    const twin = await newRow(database, "pending", { owed_at: "'2026-01-01 00:00:00.123456Z'" });
    const slice = await take(database, { most: 1 });
    expect(slice.watermark).toBe("2026-01-01 00:00:00.123456+00");
    const next = await take(database, { most: 1, watermark: slice.watermark });
    expect(new Set([...ids(slice.leased), ...ids(next.leased)])).toEqual(new Set([first, twin]));
  });

  test("hides only what became due before it: a look from the beginning finds that too", async () => {
    await newRow(database, "pending", ago(10));
    const { watermark } = await take(database);
    const late = await newRow(database, "pending", ago(3600));
    expect(await take(database, { watermark })).toEqual(nothing);
    expect(ids((await take(database)).leased)).toEqual([late]);
  });

  test("is null for an empty slice", async () => {
    expect((await take(database)).watermark).toBeNull();
  });
});
