import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { defaultDurations as durations } from "../durations.ts";
import { take } from "../testing/act.ts";
import { empty, newRow, readRows, reshape, rewriteRules } from "../testing/rows.ts";

import { abandonSweep } from "./abandon-sweep.ts";
import { beginSweep } from "./begin-sweep.ts";

// Ingest leases what it has just recorded, beside the sweeps: the order within a group holds between them.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await rewriteRules(database, "newest_replaces = false");
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

/** Until when a row is leased, exactly as the database has it. */
async function untilOf(id: string): Promise<string> {
  const [row] = await database.sql<{ until: string }[]>`
    SELECT leased_until::text AS until FROM owed.notification WHERE id = ${id}`;
  return row?.until ?? "";
}

const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
const ago = (seconds: number) => ({ owed_at: `now() - interval '${seconds} s'` });

/** Two events of a shipment that tell the same recipient. */
async function two(): Promise<{ older: string; newer: string }> {
  const shipment = await registerShipment(database);
  await happen(database, shipment, "picked_up", 60);
  await happen(database, shipment, "out_for_delivery", 0);
  const [older, newer] = ids(await readRows(database, shipment));
  if (!older || !newer) throw new Error("there are no two rows");
  return { older, newer };
}

/** As if a row's event had been recorded so many seconds ago; returns the row's id. */
async function recordedAgo(id: string, seconds: number): Promise<string> {
  const [row] = await database.sql<{ id: string }[]>`
    WITH old AS (
      SELECT e.key, overlay(e.key::text PLACING left(at, 8) || '-' || right(at, 4) FROM 1 FOR 13)::uuid AS became
      FROM owed.event e
      JOIN owed.notification n ON n.event_key = e.key,
        lpad(to_hex(((extract(epoch FROM now()) - ${seconds}) * 1000)::bigint), 12, '0') AS at
      WHERE n.id = ${id}
    ), event AS (
      INSERT INTO owed.event
      SELECT became, e.id || '-old', e.shipment_id, e.status, e.occurred_at, now() - make_interval(secs => ${seconds})
      FROM owed.event e JOIN old USING (key)
    ), gone AS (
      UPDATE owed.notification SET state = 'cancelled', cancelled_at = now(), reason = 'expired', owed_at = NULL WHERE id = ${id}
    )
    INSERT INTO owed.notification (id, event_key, due_at, subscriber_id, rule_id, channel, owed_at)
    SELECT owed.notification_id(became, 1), became, due_at, subscriber_id, rule_id, channel, owed_at
    FROM owed.notification, old WHERE id = ${id}
    RETURNING id`;
  if (!row) throw new Error(`there is no row ${id}`);
  return row.id;
}

describe("a row whose group has an older one leased", () => {
  test("is left alone until that is in the queue, and others are not", async () => {
    const { older, newer } = await two();
    await reshape(database, older, "leased");
    const other = await newRow(database);
    expect(ids((await take(database)).leased)).toEqual([other]);
    await reshape(database, older, "queued");
    expect(ids((await take(database)).leased)).toEqual([newer]);
  });

  test("is left alone however long ago it was owed, when it was recorded just now", async () => {
    const { older, newer } = await two();
    await reshape(database, older, "leased");
    await reshape(database, newer, "pending", ago(3600));
    expect(ids((await take(database)).leased)).toEqual([]);
  });

  test("is left alone however long ago it was owed and recorded", async () => {
    const { older, newer } = await two();
    await reshape(database, await recordedAgo(older, 7200), "leased");
    await reshape(database, await recordedAgo(newer, 3600), "pending", ago(3000));
    expect(ids((await take(database)).leased)).toEqual([]);
  });

  test("and so it is while the older one was refused, and waits for its next try; not for a follow-up", async () => {
    const { older, newer } = await two();
    const later = { owed_at: "now() + interval '50 s'" };
    await reshape(database, older, "pending", later);
    expect(ids((await take(database)).leased)).toEqual([]);
    expect((await take(database, { own: ["2026-01-01 00:00:00Z"] })).leased).toEqual([]);
    await reshape(database, older, "pending", { ...later, due_at: "now() + interval '50 s'" });
    expect(ids((await take(database)).leased)).toEqual([newer]);
  });

  test("goes when that lease has passed, and after it", async () => {
    const { older, newer } = await two();
    await reshape(database, older, "leased", ago(2));
    await reshape(database, newer, "pending", ago(1));
    expect(ids((await take(database)).leased)).toEqual([older, newer]);
  });

  test.each(["queued", "sending", "unknown", "delivered"] as const)(
    "and not %s: goes as ever",
    async (shape) => {
      const { older, newer } = await two();
      const soon = { owed_at: "now() + interval '60 s'" };
      await reshape(database, older, shape, shape === "delivered" ? {} : soon);
      expect(ids((await take(database)).leased)).toEqual([newer]);
    },
  );

  test("by this sweep: goes, since the sweep keeps the order of its own", async () => {
    const { older, newer } = await two();
    const first = await take(database, { most: 1 });
    expect(ids(first.leased)).toEqual([older]);
    expect((await take(database, { own: ["2026-01-01 00:00:00Z"] })).leased).toEqual([]);
    const own = ["2026-01-01 00:00:00Z", first.until ?? ""];
    expect(ids((await take(database, { own })).leased)).toEqual([newer]);
  });

  test("is the newer one: the older goes, whichever was recorded first", async () => {
    const { older, newer } = await two();
    await reshape(database, newer, "leased");
    expect(ids((await take(database)).leased)).toEqual([older]);
  });

  test("of the same event: the second waits for the first, and not the first for the second", async () => {
    const id = await newRow(database, "leased");
    const [second] = await database.sql<{ id: string }[]>`
      INSERT INTO owed.notification (id, event_key, due_at, subscriber_id, rule_id, channel, owed_at)
      SELECT owed.notification_id(event_key, 2), event_key, due_at, subscriber_id, rule_id, channel, now()
      FROM owed.notification WHERE id = ${id} RETURNING id`;
    expect((await take(database)).leased).toEqual([]);
    await reshape(database, second?.id ?? "", "leased");
    await reshape(database, id, "pending");
    expect(ids((await take(database)).leased)).toEqual([id]);
  });
});

describe("what was on its way when the sweep began", () => {
  /** As the sweep's beginning tells it. */
  async function begin() {
    const beginning = await beginSweep(database.ledger, durations);
    if (!beginning.taken) throw new Error(`the heartbeat is ${beginning.why}`);
    await abandonSweep(database.ledger, beginning.run);
    return { onTheWay: beginning.onTheWay };
  }

  const moment = (seconds: number) => ({ owed_at: `now() + interval '${seconds} s'` });

  test.each([
    ["leased", {}, true],
    ["leased", moment(-1), false],
    ["pending", moment(50), true],
    ["pending", moment(-1), false],
    // A follow-up, and what waits for longer than a lease.
    ["pending", { ...moment(50), due_at: "now() + interval '50 s'" }, false],
    ["pending", moment(121), false],
    ["queued", moment(50), false],
    ["sending", moment(50), false],
    ["unknown", moment(50), false],
  ] as const)("is told: %s %o: %s", async (shape, columns, told) => {
    const id = await newRow(database, shape, columns);
    expect((await begin()).onTheWay.rows).toEqual(told ? [id] : []);
  });

  test("is told of all channels", async () => {
    const email = await newRow(database, "leased");
    const sms = await newRow(database, "leased", { channel: "'sms'" });
    expect((await begin()).onTheWay.rows.toSorted()).toEqual([email, sms].toSorted());
  });

  test("holds back what is newer, known by its id alone, until it is in the queue or owed again", async () => {
    const { older } = await two();
    const lease = (owed_at: string) => reshape(database, older, "leased", { owed_at, leased_until: owed_at });
    await lease("now() + interval '60 s'");
    const { onTheWay } = await begin();
    const taken = async (options: object) => (await take(database, options)).leased.length;
    expect(await taken({ onTheWay })).toBe(0);
    // Leased by the sweep itself since then: it keeps the order of its own.
    const until = await untilOf(older);
    expect(await taken({ onTheWay, own: ["2026-01-01 00:00:00Z", until] })).toBe(1);
    await database.sql`UPDATE owed.notification SET state = 'pending', owed_at = now() WHERE state = 'leased' AND id <> ${older}`;
    await reshape(database, older, "pending", moment(50));
    expect(await taken({ onTheWay })).toBe(0);
    await reshape(database, older, "pending", { ...moment(50), due_at: "now() + interval '50 s'" });
    expect(await taken({ onTheWay })).toBe(1);
  });

  test.each([
    ["in the queue by then", "queued", {}],
    ["sent by then", "delivered", {}],
    ["owed again", "pending", { owed_at: "now()" }],
    ["owed again", "leased", ago(1)],
  ] as const)("holds back nothing when it is %s: %s", async (_, shape, columns) => {
    const { older, newer } = await two();
    await reshape(database, older, "leased", moment(60));
    const { onTheWay } = await begin();
    await reshape(database, older, shape, columns);
    expect(ids((await take(database, { onTheWay })).leased)).toContain(newer);
  });

  /** A slice's, of the sweep's own, that is leased until so many seconds from now. */
  const slice = async (seconds: number) => {
    const [row] = await database.sql<{ until: string }[]>`
      SELECT (now() + make_interval(secs => ${seconds}))::text AS until`;
    return row?.until ?? "";
  };

  test.each([
    ["after the sweep's slices", 119, [100, 110], 0],
    ["between them", 105, [100, 110], 0],
    ["before them", 95, [100, 110], 0],
    ["while the sweep looked", 81, [], 0],
    ["and had told of it when the sweep looked", 79, [], 1],
  ])("leaves out what was leased %s", async (_, seconds, own, most) => {
    const { older } = await two();
    await reshape(database, older, "leased", moment(seconds));
    // The sweep began half a minute ago.
    const onTheWay = { at: await slice(-30), rows: [] };
    const untils = await Promise.all(own.map(slice));
    expect((await take(database, { onTheWay, own: untils })).leased).toHaveLength(most);
  });
});

test("a slice says until when it is leased, as each of its rows has it; one of cancelled rows alone says nothing", async () => {
  await newRow(database, "pending", { send_by: "now()", ...ago(2) });
  expect(await take(database)).toMatchObject({ cancelled: 1, until: null });
  await newRow(database, "pending", { send_by: "now()", ...ago(2) });
  const id = await newRow(database);
  const { until } = await take(database);
  expect(
    await database.sql`SELECT leased_until = ${until}::text::timestamptz AS same FROM owed.notification WHERE id = ${id}`,
  ).toEqual([{ same: true }]);
});
