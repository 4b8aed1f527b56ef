import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import { race } from "../testing/race.ts";
import { registerShipment as registerByLedger } from "./register-shipment.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test.each([
  ["merchant_name", "", "T-1"],
  ["merchant_name", "x".repeat(201), "T-1"],
  ["tracking_number", "Shop", "T\u00071"],
])(
  "a shipment's %s that can't be taken is named, before the table refuses it",
  async (field, name, tracking) => {
    await expect(
      database.sql`SELECT owed.register_shipment('S-1', 'M-1', ${name}, ${tracking})`,
    ).rejects.toMatchObject({ code: "OW003", column_name: field });
  },
);

test("each role may watch, and what is just short enough is taken; no other role may", async () => {
  const shipment = await registerShipment(database, []);
  const address = `${"a".repeat(308)}@example.com`;
  for (const role of ["buyer", "merchant", "agent", "warehouse"])
    await database.sql`SELECT owed.subscribe(${shipment}, ${role}, ${role}, 'email', ${address}, ${"n".repeat(200)})`;
  await expect(
    database.sql`SELECT owed.subscribe(${shipment}, 'pilot', 'pilot', 'email', ${address})`,
  ).rejects.toMatchObject({ code: "OW003", column_name: "role" });
});

const register = (id: string, merchant: string) =>
  registerByLedger(database.ledger, { id, trackingNumber: "T", merchant: { id: merchant, name: "New" } });

test("two shipments of a merchant that nobody knew are registered at once", async () => {
  const first = "SELECT owed.register_shipment('S-first', 'm-unknown', 'New', 'T')";
  await race(database, first, [() => register("S-second", "m-unknown")]);
  expect(
    await database.sql`SELECT id FROM owed.shipment WHERE merchant_id = 'm-unknown' ORDER BY 1`,
  ).toMatchObject([{ id: "S-first" }, { id: "S-second" }]);
});

test("who gives a shipment to another merchant waits for its events, and for what the old sender is to send of them", async () => {
  await register("S-given", "m-old");
  await database.sql`SELECT owed.subscribe('S-given', 'buyer-1', 'buyer', 'email', 'a@example.com')`;
  await database.sql`UPDATE owed.merchant SET mode = 'old' WHERE id = 'm-old'`;
  const event = "SELECT owed.record_event('E-given', 'S-given', 'delivered', now())";
  const give = () =>
    register("S-given", "m-else").then(
      () => "given",
      (error: unknown) => error,
    );
  expect(await race(database, event, [give])).toMatchObject([{ code: "OW003", column_name: "merchant_id" }]);
});
