import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";

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
