import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test("who opts out is one recipient, of one shipment, on one channel, from the first time on", async () => {
  const { sql } = database;
  const [shipment] = [
    await registerShipment(database, ["buyer", "merchant"]),
    await registerShipment(database),
  ];
  await sql`SELECT owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'sms', '+491701234567')`;
  const optOut = async () =>
    (await sql`SELECT owed.opt_out(${shipment}, 'buyer-1', 'email') AS was`).map((row) => row.was);
  const optedOut = () => sql`
    SELECT shipment_id, recipient_id, channel, opted_out_at::text FROM owed.subscriber WHERE opted_out_at IS NOT NULL`;
  expect(await optOut()).toEqual([true]);
  const first = await optedOut();
  expect(first).toMatchObject([{ shipment_id: shipment, recipient_id: "buyer-1", channel: "email" }]);
  expect(await optOut()).toEqual([false]);
  expect(await optedOut()).toEqual(first);
});
