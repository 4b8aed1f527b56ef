import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const watch = (shipment: string, recipient: string) =>
  database.sql`SELECT owed.subscribe(${shipment}, ${recipient}, 'buyer', 'email', 'ann@example.com')`;

test("a shipment that has fifty subscribers, or more, takes no new one; who watches already is brought up to date", async () => {
  const [full, other] = [await registerShipment(database, []), await registerShipment(database, [])];
  const fill = (from: number, to: number) => database.sql`
    INSERT INTO owed.subscriber (shipment_id, recipient_id, role, channel, address, locale)
    SELECT ${full}, 'R-' || n, 'buyer', 'email', 'ann@example.com', 'en' FROM generate_series(${from}::int, ${to}::int) AS n`;
  await fill(1, 50);
  await expect(watch(full, "R-51")).rejects.toThrow(/shipment_id/);
  await watch(full, "R-7");
  await watch(other, "R-1");
  // As two transactions at once may leave it.
  await database.sql`ALTER TABLE owed.subscriber DISABLE TRIGGER not_a_crowd`;
  await fill(51, 51);
  await database.sql`ALTER TABLE owed.subscriber ENABLE TRIGGER not_a_crowd`;
  await expect(watch(full, "R-52")).rejects.toThrow(/shipment_id/);
  // Who watches another shipment is new to this one.
  await watch(other, "R-52");
  await expect(watch(full, "R-52")).rejects.toThrow(/shipment_id/);
});
