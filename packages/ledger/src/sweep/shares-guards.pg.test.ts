import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { take } from "../testing/act.ts";
import { empty, readRows, reshape, rewriteRules } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await rewriteRules(database, "newest_replaces = false");
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

test("a fresh row is not held up by itself when an older status, long delivered, came after it", async () => {
  const shipment = await registerShipment(database);
  await happen(database, shipment, "out_for_delivery", 60);
  await happen(database, shipment, "picked_up", 7200);
  const [newer, older] = await readRows(database, shipment);
  if (!newer || !older) throw new Error("there are no two rows");
  await reshape(database, older.id, "delivered");
  expect((await take(database, { fresh: 60 })).leased).toMatchObject([{ id: newer.id }]);
});

test.each(["queued", "sending", "unknown"] as const)(
  "nor by an older one whose look is overdue, and that a sweep does not lease: %s",
  async (shape) => {
    const shipment = await registerShipment(database);
    await happen(database, shipment, "picked_up", 7200);
    await happen(database, shipment, "out_for_delivery", 60);
    const [older, newer] = await readRows(database, shipment);
    if (!newer || !older) throw new Error("there are no two rows");
    await reshape(database, older.id, shape, { owed_at: "now() - interval '1 hour'" });
    expect((await take(database, { fresh: 60 })).leased).toMatchObject([{ id: newer.id }]);
  },
);

test("nor by a newer one that waits, however many are newer still", async () => {
  const shipment = await registerShipment(database);
  await happen(database, shipment, "picked_up", 7200);
  await happen(database, shipment, "out_for_delivery", 3600);
  await happen(database, shipment, "delivered", 60);
  const [own, newer, newest] = await readRows(database, shipment);
  if (!own || !newer || !newest) throw new Error("there are no three rows");
  await reshape(database, newest.id, "delivered");
  await reshape(database, newer.id, "pending", { owed_at: "now() - interval '1 hour'" });
  expect((await take(database, { fresh: 60 })).leased).toMatchObject([{ id: own.id }]);
});
