import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { Ledger } from "../connect/ledger.ts";
import { defaultDurations as durations } from "../durations.ts";
import { pause } from "../operate/pause.ts";
import { setChannel, shut } from "../testing/channel.ts";
import { empty, newRow, readRow, readRows, reshape, rewriteRules, secondsUntil } from "../testing/rows.ts";
import { type LeaseOwnOptions, leaseOwn } from "./lease-own.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  // Each event tells its recipients of itself: what came before it stays.
  await rewriteRules(database, "newest_replaces = false");
});
beforeEach(async () => {
  await empty(database);
  await beatAgo(10);
});
afterAll(() => database.drop());

/** The schedule's last beat ended so many seconds ago. */
const beatAgo = (seconds: number) =>
  database.sql`UPDATE owed.heartbeat SET beat_at = now() - make_interval(secs => ${seconds})`;
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
const own = (events: readonly string[], options: Partial<LeaseOwnOptions> = {}) =>
  leaseOwn(database.ledger, durations, { events, every: 60, queued: 50_000, ...options });
/** The ids of what it leases. */
const leased = async (events: readonly string[], options: Partial<LeaseOwnOptions> = {}) =>
  ids((await own(events, options)).leased);

/** An event of a shipment of its own, `ago` seconds ago, and the row that tells its buyer. */
async function one(ago = 0): Promise<{ event: string; id: string; shipment: string }> {
  const shipment = await registerShipment(database);
  const event = await happen(database, shipment, "out_for_delivery", ago);
  const [row] = await readRows(database, shipment);
  if (!row) throw new Error("the event owes nothing");
  return { event, id: row.id, shipment };
}

describe("the rows of an event just recorded", () => {
  test("are leased when they are due: the token rises, the lease ends in two minutes", async () => {
    const { event, id } = await one();
    const { subscriber_id: group } =
      (await database.sql`SELECT subscriber_id::text FROM owed.notification`)[0] ?? {};
    expect(await own([event])).toEqual({ leased: [{ id, generation: 0, token: 1, group }], cancelled: 0 });
    const row = await readRow(database, id);
    expect(row).toMatchObject({ state: "leased", lease_token: 1, queued_at: null });
    expect(row.leased_until).toEqual(row.owed_at);
    expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(120, -1);
    expect(await leased([event]), "leased once").toEqual([]);
  });

  test("of several events and recipients, and no others", async () => {
    const shipment = await registerShipment(database, ["buyer", "merchant"]);
    const both = await happen(database, shipment, "delivery_exception");
    const [first, second] = [await one(), await one()];
    await one();
    const told = ids(await readRows(database, shipment));
    expect(told).toHaveLength(2);
    expect((await leased([both, first.event, "E-none"])).toSorted()).toEqual([...told, first.id].toSorted());
    expect(await leased([second.event])).toEqual([second.id]);
    expect(await own([])).toEqual({ leased: [], cancelled: 0 });
  });

  test("wait for their time, and for the old sender's hands", async () => {
    const { event, id } = await one();
    await reshape(database, id, "pending", { owed_at: "now() + interval '1 s'" });
    expect(await leased([event])).toEqual([]);
    await reshape(database, id, "pending", { owed_at: "'infinity'", mode: "'old'" });
    expect(await leased([event])).toEqual([]);
    await reshape(database, id, "pending", { owed_at: "now()", mode: "NULL" });
    expect(await leased([event])).toEqual([id]);
  });

  test.each(["leased", "queued", "sending", "unknown"] as const)(
    "are left alone once they are %s",
    async (shape) => {
      const { event, id } = await one();
      await reshape(database, id, shape, { owed_at: "now() - interval '1 s'" });
      expect(await leased([event])).toEqual([]);
    },
  );

  test("are cancelled when they are not true any more", async () => {
    const { event, id } = await one();
    await database.sql`UPDATE owed.notification SET send_by = now() WHERE id = ${id}`;
    expect(await own([event])).toEqual({ leased: [], cancelled: 1 });
    expect(await readRow(database, id)).toMatchObject({ state: "cancelled", reason: "expired" });
  });

  test("are skipped where somebody holds them, without waiting", async () => {
    const { event, id } = await one();
    await database.sql.begin(async (other) => {
      await other`SELECT FROM owed.notification WHERE id = ${id} FOR UPDATE`;
      expect(await leased([event])).toEqual([]);
    });
    expect(await leased([event])).toEqual([id]);
  });

  test("are leased once by many at once", async () => {
    const events = await Promise.all(Array.from({ length: 20 }, async () => (await one()).event));
    const ledgers = Array.from({ length: 4 }, () => new Ledger({ ...database.options, connections: 1 }));
    const all = await Promise.all(
      ledgers.map((ledger) => leaseOwn(ledger, durations, { events, every: 60, queued: 100 })),
    );
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    const got = all.flatMap(({ leased }) => ids(leased));
    expect(new Set(got).size).toBe(20);
    expect(got).toHaveLength(20);
  });
});

describe("the schedule", () => {
  test("paused: nothing", async () => {
    const { event, id } = await one();
    await pause(database.ledger, "ann", "why");
    expect(await leased([event])).toEqual([]);
    await database.sql`UPDATE owed.heartbeat SET paused_at = NULL, paused_by = NULL, paused_why = NULL`;
    expect(await leased([event])).toEqual([id]);
  });

  test("that has never beaten, or not for two beats: nothing", async () => {
    const { event, id } = await one();
    await database.sql`UPDATE owed.heartbeat SET beat_at = NULL`;
    expect(await leased([event])).toEqual([]);
    await beatAgo(121);
    expect(await leased([event])).toEqual([]);
    expect(await leased([event], { every: 70 }), "by the schedule's own time").toEqual([id]);
  });

  test("that beat within two beats: as ever", async () => {
    const { event, id } = await one();
    await beatAgo(115);
    expect(await leased([event])).toEqual([id]);
  });
});

describe("a channel", () => {
  test.each([300, null])("that is closed (for %s s): nothing", async (seconds) => {
    const { event } = await one();
    await shut(database, seconds);
    expect(await leased([event])).toEqual([]);
  });

  test("closed until now is open", async () => {
    const { event, id } = await one();
    await shut(database, 0);
    await setChannel(database, { openings: "0" });
    expect(await leased([event])).toEqual([id]);
  });

  test("that is probed: nothing, the sweep sends the probes", async () => {
    const { event } = await one();
    await setChannel(database, { openings: "1" });
    expect(await leased([event])).toEqual([]);
  });

  test("alone: of the others' trouble it hears nothing", async () => {
    const { event, id } = await one();
    const sms = await one();
    await reshape(database, sms.id, "pending", { channel: "'sms'" });
    await shut(database, null);
    expect(await leased([event, sms.event])).toEqual([sms.id]);
    await setChannel(database, {
      closed_at: "NULL",
      closed_until: "NULL",
      closed_for: "NULL",
      closed_why: "NULL",
      openings: "0",
    });
    expect(await leased([event])).toEqual([id]);
  });

  const inQueue = (rows: number, columns = {}) =>
    Promise.all(Array.from({ length: rows }, () => newRow(database, "queued", columns)));

  test("that takes so much a second gets what it takes until the next beat, less what the queue has", async () => {
    await setChannel(database, { rate: "0.05" });
    await inQueue(1);
    const owed = [await one(), await one(), await one()];
    expect(await leased(owed.map(({ event }) => event))).toEqual(ids(owed).slice(0, 2));
    expect(await leased(owed.map(({ event }) => event)), "leased rows count").toEqual([]);
    expect(
      await leased(
        owed.map(({ event }) => event),
        { every: 80 },
      ),
    ).toEqual(ids(owed).slice(2));
  });

  test.each<[string, Parameters<typeof newRow>[1], object]>([
    ["queued", "queued", {}],
    ["queued and overdue", "queued", { owed_at: "now() - interval '1 s'" }],
    ["being sent", "sending", {}],
    ["being sent, for too long", "sending", { owed_at: "now() - interval '1 s'" }],
    ["leased", "leased", {}],
  ])("has a row %s less room", async (_, shape, columns) => {
    await setChannel(database, { rate: "0.01" });
    const { event, id } = await one();
    const there = await newRow(database, shape, columns);
    expect(await leased([event])).toEqual([]);
    await reshape(database, there, "delivered");
    expect(await leased([event]), "a slow one gets one at least").toEqual([id]);
  });

  test("counts neither what waits for its time, nor what is unknown, nor another channel's, nor a lease that has passed", async () => {
    await setChannel(database, { rate: "0.01" });
    const { event, id } = await one();
    await newRow(database, "pending", { owed_at: "now() + interval '10 s'" });
    await newRow(database, "unknown");
    await newRow(database, "queued", { channel: "'sms'" });
    await newRow(database, "queued", { channel: "'sms'", owed_at: "now() - interval '1 s'" });
    await newRow(database, "leased", { owed_at: "now() - interval '1 s'" });
    expect(await leased([event])).toEqual([id]);
  });

  test("gets no more than its quota has left", async () => {
    await setChannel(database, { quota: "10", used: "8" });
    const owed = [await one(), await one(), await one()];
    expect(await leased(owed.map(({ event }) => event))).toEqual(ids(owed).slice(0, 2));
    await setChannel(database, { used: "11" });
    expect(await leased(owed.map(({ event }) => event))).toEqual([]);
  });

  test("of no known rate has so many in the queue", async () => {
    await inQueue(2);
    const { event, id } = await one();
    expect(await leased([event], { queued: 2 })).toEqual([]);
    expect(await leased([event], { queued: 3 })).toEqual([id]);
  });

  const behind = { owed_at: "now() - interval '11 s'" };

  test.each(["pending", "leased"] as const)(
    "of which the last beat left a row behind (%s): nothing",
    async (shape) => {
      const left = await newRow(database, shape, behind);
      const { event, id } = await one();
      expect(await leased([event])).toEqual([]);
      await reshape(database, left, "queued", behind);
      expect(await leased([event]), "what waits for a look is none").toEqual([id]);
    },
  );

  test("of which something fell due since the last beat: as ever, that beat could not have it", async () => {
    await newRow(database, "pending", { owed_at: "now() - interval '9 s'" });
    const { event, id } = await one();
    expect(await leased([event])).toEqual([id]);
  });

  test("is not held up by what is left behind of another one", async () => {
    await newRow(database, "pending", { ...behind, channel: "'sms'" });
    const { event, id } = await one();
    expect(await leased([event])).toEqual([id]);
  });

  test("is looked after within bounds: a thousand older rows of another one hide its own", async () => {
    const { id: model } = await one();
    await database.sql`
      INSERT INTO owed.notification (id, event_key, due_at, subscriber_id, rule_id, channel, owed_at)
      SELECT gen_random_uuid(), event_key, due_at, subscriber_id, rule_id, 'sms', now() - interval '1 hour'
      FROM owed.notification, generate_series(1, 1000) WHERE id = ${model}`;
    await newRow(database, "pending", behind);
    const { event, id } = await one();
    expect(await leased([event])).toEqual([id]);
    await database.sql`DELETE FROM owed.notification WHERE id = (SELECT id FROM owed.notification WHERE channel = 'sms' LIMIT 1)`;
    const next = await one();
    expect(await leased([next.event])).toEqual([]);
  });
});

describe("a group", () => {
  /** Two events of a shipment that tell the same recipient. */
  async function two(): Promise<{
    older: { id: string; event: string };
    newer: { id: string; event: string };
  }> {
    const shipment = await registerShipment(database);
    const events = [
      await happen(database, shipment, "picked_up", 60),
      await happen(database, shipment, "out_for_delivery", 0),
    ];
    const [older, newer] = ids(await readRows(database, shipment)).map((id, place) => ({
      id,
      event: events[place] ?? "",
    }));
    if (!older || !newer) throw new Error("there are no two rows");
    return { older, newer };
  }

  test.each(["pending", "leased", "queued", "sending"] as const)(
    "whose older row is %s: the newer waits",
    async (shape) => {
      const { older, newer } = await two();
      await reshape(database, older.id, shape);
      expect(await leased([newer.event])).toEqual([]);
      await reshape(database, older.id, "delivered");
      expect(await leased([newer.event])).toEqual([newer.id]);
    },
  );

  test.each(["unknown", "held", "dead", "cancelled", "delivered"] as const)(
    "whose older row is %s: the newer goes",
    async (shape) => {
      const { older, newer } = await two();
      await reshape(database, older.id, shape);
      expect(await leased([newer.event])).toEqual([newer.id]);
    },
  );

  test("whose older row was refused and waits for another try: the newer waits as well", async () => {
    const { older, newer } = await two();
    await reshape(database, older.id, "pending", { owed_at: "now() + interval '30 s'" });
    expect(await leased([newer.event])).toEqual([]);
  });

  test("whose older row is not due yet, or in the old sender's hands: the newer goes", async () => {
    const first = await two();
    await reshape(database, first.older.id, "pending", {
      owed_at: "now() + interval '30 s'",
      due_at: "now() + interval '30 s'",
    });
    expect(await leased([first.newer.event])).toEqual([first.newer.id]);
    const second = await two();
    await reshape(database, second.older.id, "pending", { owed_at: "'infinity'", mode: "'old'" });
    expect(await leased([second.newer.event])).toEqual([second.newer.id]);
  });

  test("of two events recorded at once gets the first", async () => {
    const { older, newer } = await two();
    expect(await leased([newer.event, older.event])).toEqual([older.id]);
  });

  test("whose newer row was there before: an older event that comes late goes at once", async () => {
    const { older, newer } = await two();
    await reshape(database, newer.id, "queued");
    expect(await leased([older.event])).toEqual([older.id]);
  });

  test("of one event with two rows gets the first, and another recipient its own", async () => {
    const shipment = await registerShipment(database, ["buyer", "merchant"]);
    const event = await happen(database, shipment, "delivery_exception");
    const [first, second] = await readRows(database, shipment);
    if (!first || !second) throw new Error("there are no two rows");
    await database.sql`
      INSERT INTO owed.notification (id, event_key, due_at, subscriber_id, rule_id, channel, owed_at)
      SELECT owed.notification_id(event_key, 9), event_key, due_at, subscriber_id, rule_id, channel, owed_at
      FROM owed.notification WHERE id = ${first.id}`;
    expect(await leased([event])).toEqual([first.id, second.id]);
  });
});
