import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../tests/support/shipment.ts";
import { readMoot } from "./ask/moot.ts";
import { empty, reshape, rewriteRules } from "./testing/rows.ts";

// A newer status that was told, or is owed by now, makes an older one moot. Which rows are a newer status's is told by the ranges of
// their ids, and events come in any order.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

/** The row of an event that nobody has replaced yet. */
async function told(shipment: string, status: string, ago: number): Promise<string> {
  const event = await happen(database, shipment, status, ago);
  const [row] = await database.sql<{ id: string }[]>`
    SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key JOIN owed.rule r ON r.id = n.rule_id
    WHERE e.id = ${event} ORDER BY r.delay_s LIMIT 1`;
  if (!row) throw new Error("nobody is told");
  return row.id;
}

async function shipmentThatKeepsAll(): Promise<string> {
  await rewriteRules(database, "newest_replaces = false");
  return registerShipment(database);
}
const newestReplaces = () => rewriteRules(database, "newest_replaces = true");
const reasons = async (...ids: string[]) => [...(await readMoot(database.ledger, ids)).values()];

test("an older status that was delivered does not count for the newer one that is only owed", async () => {
  const shipment = await shipmentThatKeepsAll();
  const oldest = await told(shipment, "picked_up", 7200);
  const row = await told(shipment, "customs_hold", 3600);
  await reshape(database, await told(shipment, "out_for_delivery", 60), "dead");
  await reshape(database, oldest, "delivered");
  await newestReplaces();
  expect(await reasons(row)).toEqual([]);
});

test("nor does one that was delivered, and came after the newer one", async () => {
  const shipment = await shipmentThatKeepsAll();
  const newest = await told(shipment, "out_for_delivery", 60);
  const oldest = await told(shipment, "picked_up", 7200);
  const row = await told(shipment, "customs_hold", 3600);
  await reshape(database, oldest, "delivered");
  await reshape(database, newest, "dead");
  await newestReplaces();
  expect(await reasons(row)).toEqual([]);
  await reshape(database, newest, "delivered", { died_at: "NULL", stopped_at: "NULL" });
  expect(await reasons(row)).toEqual(["superseded"]);
});

test("a newer one that was delivered counts, although it is not due yet: the old sender's clock was ahead", async () => {
  const shipment = await shipmentThatKeepsAll();
  const row = await told(shipment, "customs_hold", 3600);
  const newer = await told(shipment, "out_for_delivery", 60);
  await reshape(database, newer, "delivered", { due_at: "now() + interval '1 minute'" });
  await newestReplaces();
  expect(await reasons(row)).toEqual(["superseded"]);
});

test("a newer one that was delivered counts, although it would be too late to send it now", async () => {
  const shipment = await shipmentThatKeepsAll();
  const row = await told(shipment, "customs_hold", 3600);
  const newer = await told(shipment, "out_for_delivery", 60);
  await reshape(database, newer, "delivered", { send_by: "now() - interval '1 minute'" });
  await newestReplaces();
  expect(await reasons(row)).toEqual(["superseded"]);
});

test.each([
  ["opted_out", "opted_out"],
  ["bounced", "suppressed"],
])("an address that %s is named as such, however often it stands there", async (cause, reason) => {
  const shipment = await shipmentThatKeepsAll();
  const row = await told(shipment, "customs_hold", 60);
  for (const address of ["buyer@example.com", null])
    await database.sql`
      INSERT INTO owed.suppression (channel, address, cause, notification_id)
      VALUES ('email', coalesce(${address}, owed.address_digest('buyer@example.com')), ${cause}, ${row})`;
  expect(await reasons(row)).toEqual([reason]);
  const event = await happen(database, shipment, "delivered");
  expect(
    await database.sql`
      SELECT n.state, n.reason, n.cancelled_by ~ '^suppression [0-9]+$' AS named FROM owed.notification n
      JOIN owed.event e ON e.key = n.event_key WHERE e.id = ${event}`,
  ).toEqual([{ state: "cancelled", reason, named: true }]);
  await database.sql`UPDATE owed.suppression SET lifted_at = now(), lifted_by = 'ann', lifted_why = 'a test'`;
  expect(await reasons(row)).toEqual([]);
  const next = await told(shipment, "out_for_delivery", 0);
  expect(await database.sql`SELECT state FROM owed.notification WHERE id = ${next}`).toEqual([
    { state: "pending" },
  ]);
});

test("of several newer ones the newest is named", async () => {
  const shipment = await shipmentThatKeepsAll();
  const row = await told(shipment, "picked_up", 7200);
  for (const [status, ago] of [
    ["customs_hold", 3600],
    ["out_for_delivery", 60],
    ["customs_released", 1800],
  ] as const)
    await told(shipment, status, ago);
  await newestReplaces();
  expect(
    await database.sql`
      SELECT e.status FROM owed.moot m JOIN owed.event e ON m.by = 'event ' || e.id WHERE m.id = ${row}`,
  ).toEqual([{ status: "out_for_delivery" }]);
});
