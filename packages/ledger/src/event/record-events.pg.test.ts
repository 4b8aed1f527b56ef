import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import { Ledger } from "../connect/ledger.ts";
import { empty } from "../testing/rows.ts";
import { keepRefusedEvent } from "./keep-refused-event.ts";
import { recordEvents, type ShipmentEvent } from "./record-events.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const event = (shipmentId: string, more: Partial<ShipmentEvent> = {}): ShipmentEvent => ({
  id: `E-${randomUUID()}`,
  shipmentId,
  status: "out_for_delivery",
  occurredAt: new Date().toISOString(),
  ...more,
});
const record = (...events: ShipmentEvent[]) => recordEvents(database.ledger, events);
const counts = async () =>
  (
    await database.sql`SELECT (SELECT count(*)::int FROM owed.event) AS events, (SELECT count(*)::int FROM owed.notification) AS notifications`
  )[0];
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

describe("the same event", () => {
  test("twice is recorded once", async () => {
    const one = event(await registerShipment(database));
    expect([await record(one), await record(one)]).toEqual([
      [{ outcome: "recorded", notifications: 1 }],
      [{ outcome: "repeated" }],
    ]);
    expect(await counts()).toEqual({ events: 1, notifications: 1 });
  });

  test("twice in a batch is recorded once", async () => {
    const one = event(await registerShipment(database));
    expect((await record(one, one)).map(({ outcome }) => outcome)).toEqual(["recorded", "repeated"]);
    expect(await counts()).toEqual({ events: 1, notifications: 1 });
  });

  test("ten times at once, from ten connections, is recorded once", async () => {
    const one = event(await registerShipment(database));
    const ledgers = Array.from({ length: 10 }, () => new Ledger({ ...database.options, connections: 1 }));
    const answers = (await Promise.all(ledgers.map((ledger) => recordEvents(ledger, [one])))).flat();
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    expect(answers.filter(({ outcome }) => outcome === "recorded")).toHaveLength(1);
    expect(answers.filter(({ outcome }) => outcome === "repeated")).toHaveLength(9);
    expect(await counts()).toEqual({ events: 1, notifications: 1 });
  });

  test("of the same moment in another offset is the same event", async () => {
    const one = event(await registerShipment(database), { occurredAt: "2026-03-29T09:30:00+02:00" });
    await record(one);
    expect(await record({ ...one, occurredAt: "2026-03-29T07:30:00Z" })).toEqual([{ outcome: "repeated" }]);
  });

  test.each<[string, (other: string) => Partial<ShipmentEvent>]>([
    ["status", () => ({ status: "delivered" })],
    ["time", () => ({ occurredAt: "2026-03-29T07:30:00.000001Z" })],
    ["shipment", (shipmentId) => ({ shipmentId })],
  ])("with another %s is refused", async (_, change) => {
    const one = event(await registerShipment(database), { occurredAt: "2026-03-29T07:30:00Z" });
    await record(one);
    expect(await record({ ...one, ...change(await registerShipment(database)) })).toEqual([
      { outcome: "refused", field: "id", reason: "is already taken by an event with other content" },
    ]);
    expect(await counts()).toEqual({ events: 1, notifications: 1 });
  });

  test("with other content, at once from two batches that lock each other's shipments, ends: one is refused", async () => {
    const [a, b] = [
      await registerShipment(database, ["buyer"], `A-${randomUUID()}`),
      await registerShipment(database, ["buyer"], `B-${randomUUID()}`),
    ];
    const id = `E-${randomUUID()}`;
    const answers = await Promise.all([
      record(event(a, { id }), event(b)),
      record(event(a), event(b, { id })),
    ]);
    expect(
      answers
        .flat()
        .map(({ outcome }) => outcome)
        .sort(),
    ).toEqual(["recorded", "recorded", "recorded", "refused"]);
  });
});

describe("is refused, with the field and the reason", () => {
  test.each<[string, Partial<ShipmentEvent>, string, RegExp]>([
    ["an unknown status", { status: "teleported" }, "status", /is not a known status/],
    ["an unknown shipment", { shipmentId: "S-nowhere" }, "shipment_id", /is not a known shipment/],
    [
      "more than five minutes in the future",
      { occurredAt: inMinutes(6) },
      "occurred_at",
      /more than five minutes in the future/,
    ],
    ["infinity", { occurredAt: "infinity" }, "occurred_at", /must be a time/],
    ["minus infinity", { occurredAt: "-infinity" }, "occurred_at", /must be a time/],
    ["a date that does not exist", { occurredAt: "2026-02-30T00:00:00Z" }, "occurred_at", /must be a time/],
    ["no time at all", { occurredAt: "" }, "occurred_at", /must be a time/],
    ["an empty id", { id: "" }, "id", /must be 1 to 128 characters/],
    ["an id that is too long", { id: "x".repeat(129) }, "id", /must be 1 to 128 characters/],
    ["an id with a line break", { id: "E-1\n" }, "id", /must be 1 to 128 characters/],
    ["an id in another script", { id: "Ереванъ" }, "id", /must be 1 to 128 characters/],
    [
      "a shipment that is no id",
      { shipmentId: "'; DROP TABLE owed.event; --" },
      "shipment_id",
      /is not a known shipment/,
    ],
  ])("%s, and its neighbours are recorded", async (_, change, field, reason) => {
    const shipment = await registerShipment(database);
    const neighbours = [event(shipment), event(shipment)] as const;
    expect(await record(neighbours[0], event(shipment, change), neighbours[1])).toEqual([
      { outcome: "recorded", notifications: 1 },
      { outcome: "refused", field, reason: expect.stringMatching(reason) },
      { outcome: "recorded", notifications: 1 },
    ]);
    expect(await counts()).toEqual({ events: 2, notifications: 2 });
  });

  test("what is missing", async () => {
    const shipment = await registerShipment(database);
    const rows = await database.sql`
      SELECT r.outcome, r.field FROM (VALUES (NULL, 'picked_up', now()), ('E-1', NULL, now()), ('E-2', 'picked_up', NULL)) AS given (id, status, at),
        LATERAL owed.try_record_event(given.id, ${shipment}, given.status, given.at) AS r`;
    expect(rows).toEqual(["id", "status", "occurred_at"].map((field) => ({ outcome: "refused", field })));
    const [none] =
      await database.sql`SELECT outcome, field FROM owed.try_record_event('E-3', NULL, 'picked_up', now())`;
    expect(none).toEqual({ outcome: "refused", field: "shipment_id" });
  });
});

describe("is recorded", () => {
  test("up to five minutes in the future: clocks differ", async () => {
    expect(await record(event(await registerShipment(database), { occurredAt: inMinutes(4) }))).toMatchObject(
      [{ outcome: "recorded" }],
    );
  });

  test("to the microsecond", async () => {
    const shipment = await registerShipment(database);
    await record(event(shipment, { occurredAt: "2026-03-29T07:30:00.123456Z" }));
    const [row] =
      await database.sql`SELECT occurred_at::text, (SELECT status_at::text FROM owed.shipment WHERE id = ${shipment}) FROM owed.event`;
    expect(row).toEqual({
      occurred_at: "2026-03-29 07:30:00.123456+00",
      status_at: "2026-03-29 07:30:00.123456+00",
    });
  });

  test("in a batch whose answers come in the order of its events, whatever the order of the shipments", async () => {
    const shipments = [
      await registerShipment(database, ["buyer"], `Z-${randomUUID()}`),
      await registerShipment(database, [], `A-${randomUUID()}`),
    ] as const;
    expect(
      await record(
        event(shipments[0]),
        event(shipments[1]),
        event("S-nowhere"),
        event(shipments[0], { status: "delivered" }),
      ),
    ).toMatchObject([
      { outcome: "recorded", notifications: 1 },
      { outcome: "recorded", notifications: 0 },
      { outcome: "refused" },
      { outcome: "recorded", notifications: 1 },
    ]);
  });

  test("by batches that come at once with the same shipments in other orders", async () => {
    const shipments = await Promise.all(Array.from({ length: 6 }, () => registerShipment(database)));
    const turns = shipments.map((_, at) => [...shipments.slice(at), ...shipments.slice(0, at)]);
    const answers = await Promise.all(
      turns.map((order) => record(...order.map((shipment) => event(shipment)))),
    );
    expect(answers.flat().every(({ outcome }) => outcome === "recorded")).toBe(true);
    expect(await counts()).toEqual({ events: 36, notifications: 36 });
  });

  test("of nothing: nothing", async () => {
    expect(await record()).toEqual([]);
  });
});

describe("a refused event is kept for a look", () => {
  const refused = {
    messageId: "M-1",
    queue: "event",
    field: "status",
    reason: "is not a known status",
  } as const;
  const kept = () => database.sql`SELECT message_id, field, reason, body, body_bytes FROM owed.refused_event`;
  beforeEach(() => database.sql`DELETE FROM owed.refused_event`);

  test("byte for byte, whatever it holds, and once", async () => {
    const body = '{"id":"\u0000","name":"💥 \u202eevil"}';
    await keepRefusedEvent(database.ledger, { ...refused, body });
    await keepRefusedEvent(database.ledger, { ...refused, body: "again" });
    expect(await kept()).toEqual([
      {
        message_id: "M-1",
        field: "status",
        reason: "is not a known status",
        body: Buffer.from(body),
        body_bytes: Buffer.byteLength(body),
      },
    ]);
  });

  test("of a large one the first 64 KiB", async () => {
    await keepRefusedEvent(database.ledger, { ...refused, body: "é".repeat(500_000) });
    const [row] = await kept();
    expect([row?.body.length, row?.body_bytes]).toEqual([65_536, 1_000_000]);
  });
});

test("a flood of events about one shipment ends at its bound, and holds up nobody's sweep", async () => {
  const [flooded, neighbour] = [await registerShipment(database), await registerShipment(database)];
  const flood = Array.from({ length: 250 }, (_, place) =>
    event(flooded, { occurredAt: new Date(Date.now() - place).toISOString() }),
  );
  const answers = await record(...flood);
  expect(Map.groupBy(answers, ({ outcome }) => outcome).get("recorded")).toHaveLength(100);
  const refused = {
    outcome: "refused",
    field: "status",
    reason: "is the shipment's 101st, more than a shipment has",
  };
  expect(answers.slice(100)).toEqual(Array.from({ length: 150 }, () => refused));
  const [first] = flood;
  if (!first) throw new Error("no flood");
  expect(await record(first), "it came before").toEqual([{ outcome: "repeated" }]);
  expect(await record(event(neighbour))).toEqual([{ outcome: "recorded", notifications: 1 }]);
  await expect(
    database.sql`SELECT owed.record_event('E-101', ${flooded}, 'delivered', now())`,
  ).rejects.toMatchObject({ code: "OW001" });
});
