import { randomUUID } from "node:crypto";
import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { readRows } from "../support/ledger-rows.ts";
import { depth } from "../support/queue.ts";
import { owe, registerShipment, tellEveryUpdate } from "../support/shipment.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(async () => {
  await cloud.sql`TRUNCATE owed.refused_event`;
  await cloud.reset();
});
afterAll(() => cloud.stop());

const event = (shipment_id: string, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    "detail-type": "shipment.status_changed",
    detail: {
      id: `E-${randomUUID()}`,
      shipment_id,
      status: "out_for_delivery",
      occurred_at: new Date(Date.now() - 60_000).toISOString(),
      ...more,
    },
  });

async function put(bodies: readonly string[]): Promise<void> {
  const QueueUrl = cloud.queues.event.url;
  const calls = Array.from({ length: Math.ceil(bodies.length / 10) }, (_, call) =>
    bodies.slice(call * 10, call * 10 + 10),
  );
  await Promise.all(
    calls.map((some) =>
      cloud.client.send(
        new SendMessageBatchCommand({
          QueueUrl,
          Entries: some.map((MessageBody, place) => ({ Id: String(place), MessageBody })),
        }),
      ),
    ),
  );
}

const ingested = () => eventually(async () => expect(await depth(cloud, cloud.queues.event.url)).toBe(0));
const neighbours = async () =>
  (await readRows(cloud)).filter(({ shipment_id }) => !shipment_id.startsWith("flood"));

/** Puts these events in with those of ten neighbours among them; everybody is told by one sweep. */
async function flood(bodies: readonly string[]): Promise<void> {
  const others = await Promise.all(Array.from({ length: 10 }, () => registerShipment(cloud)));
  const step = Math.floor(bodies.length / others.length);
  await put(
    others.flatMap((shipment, place) => [
      ...bodies.slice(place * step, place === 9 ? undefined : (place + 1) * step),
      event(shipment),
    ]),
  );
  cloud.run("ingest");
  await ingested();
  expect(await cloud.sweep()).toMatchObject({ swept: true });
  cloud.run("deliver");
  await eventually(async () =>
    expect((await neighbours()).map(({ state }) => state)).toEqual(Array(10).fill("delivered")),
  );
  expect((await neighbours()).map(({ attempts }) => attempts)).toEqual(Array(10).fill(1));
  expect(await depth(cloud, cloud.queues.event.deadLetters.url)).toBe(0);
}

test("hundreds of events about one shipment keep nobody else waiting", async () => {
  const shipment = await registerShipment(cloud, ["buyer"], "flood-1");
  const start = Date.now() - 3_600_000;
  // The platform's clock runs backwards: each event is older than the one before.
  await flood(
    Array.from({ length: 115 }, (_, n) =>
      event(shipment, { occurred_at: new Date(start - n * 1000).toISOString() }),
    ),
  );
  const flooded = (await readRows(cloud)).filter(({ shipment_id }) => shipment_id === shipment);
  // The bound is looked at before the shipment is locked: two batches at once may pass it together.
  expect(flooded.length).toBeGreaterThanOrEqual(100);
  expect(flooded.length).toBeLessThan(115);
  const kept = await cloud.sql`SELECT DISTINCT field, reason FROM owed.refused_event WHERE body <> '{}'`;
  expect(kept).toMatchObject([
    { field: "status", reason: expect.stringContaining("more than a shipment has") },
  ]);
  // What is older than what was recorded when it came is told to nobody.
  expect(flooded.filter(({ reason }) => reason === "superseded").length).toBeGreaterThan(75);
});

test("hundreds of copies of one event are one event, and tell each recipient once", async () => {
  const shipment = await registerShipment(cloud, ["buyer"], "flood-2");
  const copy = event(shipment);
  await flood(Array.from({ length: 200 }, () => copy));
  const [counted] =
    await cloud.sql`SELECT count(*)::int AS events FROM owed.event WHERE shipment_id = ${shipment}`;
  expect(counted).toEqual({ events: 1 });
  expect((await readRows(cloud)).filter(({ shipment_id }) => shipment_id === shipment)).toHaveLength(1);
});

test("hundreds of events that are refused are kept once each, the first 64 KiB of a larger one, and the largest is taken", async () => {
  const shipment = await registerShipment(cloud, ["buyer"], "flood-3");
  const padded = (bytes: number) =>
    event(shipment, { note: "" }).replace(
      '"note":""',
      () => `"note":"${"x".repeat(bytes - Buffer.byteLength(event(shipment, { note: "" })))}"`,
    );
  const largest = padded(65_536);
  expect(Buffer.byteLength(largest)).toBe(65_536);
  const refused = [
    ...Array.from({ length: 96 }, (_, n) =>
      event(shipment, { status: ["teleported", "", null, 7, "İn_customs", "a".repeat(9_000)][n % 6] }),
    ),
    ...[
      padded(65_537),
      `${largest} `,
      padded(300_000),
      `{"detail-type":"shipment.status_changed","detail":${"[".repeat(50_000)}`,
    ],
  ];
  await flood([...refused, largest, event(shipment, { shipment_id: "flood-３" })].toSorted());
  const [kept] = await cloud.sql`
    SELECT count(*)::int AS rows, count(DISTINCT message_id)::int AS messages, max(octet_length(body)) AS largest,
      max(length(reason)) < 100 AS short, bool_and(field IN ('status', 'body', 'shipment_id')) AS named
    FROM owed.refused_event WHERE body <> '{}'`;
  expect(kept).toEqual({ rows: 101, messages: 101, largest: 65_536, short: true, named: true });
  expect((await readRows(cloud)).filter(({ shipment_id }) => shipment_id === shipment)).toHaveLength(1);
});

test("a flood of the platform's own transactions leaves the sweep as fast as it was", async () => {
  await tellEveryUpdate(cloud, await registerShipment(cloud, ["buyer"], "flood-4"));
  await cloud.sql`
    SELECT count(owed.record_event('flood-' || n, 'flood-4', 'out_for_delivery', clock_timestamp() - interval '1 hour' + n * interval '1 s'))
    FROM generate_series(1, 100) AS n`;
  await owe(cloud, 10);
  expect(await cloud.sweep()).toMatchObject({ swept: true, leased: 110, published: 110 });
  cloud.run("deliver");
  await eventually(async () =>
    expect((await neighbours()).every(({ state }) => state === "delivered")).toBe(true),
  );
});
