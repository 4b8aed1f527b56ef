import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { empty, rewriteRules } from "../testing/rows.ts";
import { recordEvents } from "./record-events.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

test("an event that comes again is compared with itself, whatever came before and after it", async () => {
  const shipmentId = await registerShipment(database);
  const events = ["E-1", "E-2", "E-3"].map((id, place) => ({
    id,
    shipmentId,
    status: "picked_up",
    occurredAt: `2026-01-0${place + 1}T00:00:00Z`,
  }));
  await recordEvents(database.ledger, events);
  expect(await recordEvents(database.ledger, events)).toEqual(Array(3).fill({ outcome: "repeated" }));
});

test("an event is its own shipment's status, and no other one's", async () => {
  const [shipment, other] = [await registerShipment(database), await registerShipment(database)];
  await happen(database, other, "picked_up", 60);
  await happen(database, shipment, "out_for_delivery");
  const [row] = await database.sql`SELECT status FROM owed.shipment WHERE id = ${other}`;
  expect(row).toEqual({ status: "picked_up" });
});

test("what is told at once is due when the event is recorded, not when it occurred: it stands behind what has waited", async () => {
  await happen(database, await registerShipment(database), "out_for_delivery", 3600);
  const [row] = await database.sql`
    SELECT due_at > now() - interval '1 minute' AS due_now, owed_at = due_at AS owed FROM owed.notification`;
  expect(row).toEqual({ due_now: true, owed: true });
});

test("a rule that is not active tells nobody", async () => {
  await rewriteRules(database, "active = false, retired_at = now()", "status = 'out_for_delivery'");
  await happen(database, await registerShipment(database), "out_for_delivery");
  await rewriteRules(database, "active = true, retired_at = NULL");
  expect(await database.sql`SELECT FROM owed.notification`).toEqual([]);
});

test("a status that is not current any more when it comes is not told, where the rule asks for the current one alone", async () => {
  const shipment = await registerShipment(database);
  await rewriteRules(database, "newest_replaces = false, only_while_current = true", "status = 'picked_up'");
  await happen(database, shipment, "out_for_delivery", 60);
  await happen(database, shipment, "picked_up", 3600);
  expect(await database.sql`SELECT state, reason FROM owed.notification ORDER BY id`).toEqual([
    { state: "pending", reason: null },
    { state: "cancelled", reason: "superseded" },
  ]);
});

test("a merchant's own rule for one channel leaves the common ones for the others", async () => {
  const shipment = await registerShipment(database);
  await database.sql`
    INSERT INTO owed.rule (merchant_id, status, role, channel, template, delay_s, send_within_s)
    VALUES ('M-1', 'out_for_delivery', 'buyer', 'sms', 'out_for_delivery', 0, 86400)`;
  await happen(database, shipment, "out_for_delivery");
  expect(await database.sql`SELECT channel FROM owed.notification`).toEqual([{ channel: "email" }]);
});

test("a shipment that has more than a hundred events takes no more, and another one does", async () => {
  const [full, other] = [await registerShipment(database), await registerShipment(database)];
  await database.sql`
    INSERT INTO owed.event (key, id, shipment_id, status, occurred_at, recorded_at)
    SELECT owed.new_event_key(), 'E-' || n, ${full}, 'picked_up', now(), now() FROM generate_series(1, 101) AS n`;
  const at = { status: "picked_up", occurredAt: "2026-01-01T00:00:00Z" };
  expect(
    await recordEvents(database.ledger, [
      { id: "E-a", shipmentId: full, ...at },
      { id: "E-b", shipmentId: other, ...at },
    ]),
  ).toMatchObject([{ outcome: "refused", field: "status" }, { outcome: "recorded" }]);
});

test("a silent rule tells nobody, and a late event names what came after it where its rule asks for the current status", async () => {
  const shipment = await registerShipment(database);
  await rewriteRules(database, "silent = true", "status = 'out_for_delivery' AND role = 'buyer'");
  const silent = await happen(database, shipment, "out_for_delivery", 60);
  await rewriteRules(database, "silent = false");
  await rewriteRules(database, "newest_replaces = false, only_while_current = true", "status = 'picked_up'");
  const late = await happen(database, shipment, "picked_up", 7200);
  await rewriteRules(database, "newest_replaces = true, only_while_current = false", "status = 'picked_up'");
  expect(
    await database.sql`
      SELECT e.id AS event, n.reason, n.cancelled_by AS by FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
      WHERE e.shipment_id = ${shipment} AND n.channel = 'email'`,
  ).toEqual([{ event: late, reason: "superseded", by: `event ${silent}` }]);
});

test("what the old sender sent of an event that comes afterwards is looked for where its merchant has not moved over alone", async () => {
  const shipments = [await registerShipment(database), await registerShipment(database)];
  const [early = "", moved = ""] = shipments;
  await database.sql`UPDATE owed.shipment SET merchant_id = 'M-moving' WHERE id = ${early} AND 'M-moving' = (
    SELECT owed.register_shipment('S-moving', 'M-moving', 'Moving', 'T')::text || 'M-moving')`;
  await database.sql`UPDATE owed.merchant SET mode = 'old' WHERE id = 'M-moving'`;
  const ids = shipments.map((shipment) => `sent-${shipment}`);
  for (const [place, id] of ids.entries())
    await database.sql`
      INSERT INTO owed.old_send (merchant_id, event_id, recipient_id, channel, template, sent_at, provider)
      VALUES ('M', ${id}, 'buyer-1', 'email', 'delivered', now() - make_interval(mins => ${place}), 'smtp')`;
  for (const [place, id] of ids.entries())
    await database.sql`SELECT owed.record_event(${id}, ${shipments[place] ?? ""}, 'delivered', now())`;
  expect(
    await database.sql`
      SELECT e.shipment_id AS shipment, n.state, n.evidence FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
      WHERE e.id = ANY (${ids}) AND n.channel = 'email' ORDER BY e.recorded_at`,
  ).toEqual([
    { shipment: early, state: "delivered", evidence: "old_sender" },
    { shipment: moved, state: "pending", evidence: null },
  ]);
});

test("an address is out of use on its own channel alone, and who opted out is named as such", async () => {
  const shipment = await registerShipment(database, ["buyer", "merchant"]);
  await happen(database, shipment, "picked_up", 60);
  const [row] = await database.sql<{ id: string }[]>`SELECT id FROM owed.notification LIMIT 1`;
  await database.sql`
    INSERT INTO owed.suppression (channel, address, cause, notification_id)
    VALUES ('sms', 'buyer@example.com', 'bounced', ${row?.id ?? ""}), ('email', 'other@example.com', 'bounced', ${row?.id ?? ""})`;
  await database.sql`SELECT owed.opt_out(${shipment}, 'merchant-1', 'email')`;
  await database.sql`UPDATE owed.merchant SET mode = 'shadow'`;
  const event = await happen(database, shipment, "delivered");
  await database.sql`UPDATE owed.merchant SET mode = 'owed'`;
  expect(
    await database.sql`
      SELECT s.role, n.state, n.reason, n.cancelled_by AS by, n.mode FROM owed.notification n
        JOIN owed.event e ON e.key = n.event_key JOIN owed.subscriber s ON s.id = n.subscriber_id
      WHERE e.id = ${event} ORDER BY s.role`,
  ).toEqual([
    { role: "buyer", state: "pending", reason: null, by: null, mode: "shadow" },
    { role: "merchant", state: "cancelled", reason: "opted_out", by: "recipient", mode: null },
  ]);
});

test("a time of day is the recipient's, else the merchant's, else that of UTC", async () => {
  const shipment = await registerShipment(database);
  await rewriteRules(database, "at_time = '09:00'", "status = 'picked_up' AND channel = 'email'");
  const hours: unknown[] = [];
  for (const [mine, theirs] of [
    ["Asia/Tokyo", "Asia/Kolkata"],
    [null, "Asia/Kolkata"],
    [null, null],
  ] as const) {
    await database.sql`UPDATE owed.subscriber SET time_zone = ${mine} WHERE shipment_id = ${shipment}`;
    await database.sql`UPDATE owed.merchant SET time_zone = ${theirs} WHERE id = 'M-1'`;
    const event = await happen(database, shipment, "picked_up", 60 - hours.length);
    const [row] = await database.sql`
      SELECT to_char(n.due_at AT TIME ZONE 'UTC', 'HH24:MI') AS due FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
      WHERE e.id = ${event}`;
    hours.push(row?.due);
  }
  await rewriteRules(database, "at_time = NULL");
  await database.sql`UPDATE owed.merchant SET time_zone = NULL`;
  expect(hours).toEqual(["00:00", "03:30", "09:00"]);
});

test("what comes late and is told all the same was cancelled by nothing", async () => {
  const shipment = await registerShipment(database);
  await happen(database, shipment, "out_for_delivery", 60);
  await rewriteRules(database, "newest_replaces = false", "status = 'picked_up'");
  const late = await happen(database, shipment, "picked_up", 7200);
  await rewriteRules(database, "newest_replaces = true", "status = 'picked_up'");
  expect(
    await database.sql`
      SELECT n.state, n.cancelled_by AS by FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
      WHERE e.id = ${late} AND n.channel = 'email'`,
  ).toEqual([{ state: "pending", by: null }]);
});
