import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { everything, forgetEverybody, tell, watch } from "../testing/person.ts";
import { empty, readRows } from "../testing/rows.ts";
import { erase } from "./erase.ts";

// A recipient whose id was an address goes on being found by it, and comes back under it.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  await empty(database);
  await forgetEverybody(database);
  await database.sql`TRUNCATE owed.old_send`;
});
afterAll(() => database.drop());

const ann = "Ann@example.com";
const register = (shipment?: string) =>
  watch(database, { address: "ann@example.com", recipient: ann }, shipment);
const eraseAnn = (shipment: string) =>
  erase(
    database.ledger,
    { shipmentId: shipment, recipientId: ann },
    { actor: "ana", why: "w" },
    { dryRun: false },
  );
const named = async (shipment: string, recipient: string, channel = "email") => {
  const [row] = await database.sql<{ id: string | null }[]>`
    SELECT owed.subscriber_named(${shipment}, ${recipient}, ${channel}) AS id`;
  return row?.id;
};
const subscribers = () =>
  database.sql<{ id: string; recipient: string; address: string | null; erased: boolean }[]>`
    SELECT id, recipient_id AS recipient, address, erased_at IS NOT NULL AS erased FROM owed.subscriber ORDER BY id`;

test("by the id that it had, as before, and by no other", async () => {
  const shipment = await register();
  const id = await named(shipment, ann);
  await eraseAnn(shipment);
  const [row] = await subscribers();
  expect(row).toEqual({ id, recipient: `erased-${id}`, address: null, erased: true });
  expect(await everything(database)).not.toContain("ann@example.com");
  for (const name of [ann, `erased-${id}`]) expect(await named(shipment, name)).toBe(id);
  for (const name of ["ann@example.com", "buyer-1"]) expect(await named(shipment, name)).toBeNull();
  expect(await named(shipment, ann, "sms")).toBeNull();
  expect(await named("S-none", ann)).toBeNull();
  expect(await eraseAnn(shipment)).toMatchObject({ id: null, subscribers: 0 });
});

test("registered again it is the same recipient, under its id, and what it was told before is told", async () => {
  const shipment = await register();
  const told = await tell(database, shipment);
  const [before] = await subscribers();
  await eraseAnn(shipment);
  await register(shipment);
  expect(await subscribers()).toEqual([{ ...before, address: "ann@example.com", erased: false }]);
  expect(await database.sql`SELECT recipient_digest AS digest FROM owed.subscriber`).toEqual([
    { digest: null },
  ]);
  expect(await readRows(database, shipment)).toMatchObject([{ id: told, state: "delivered" }]);
  expect(await eraseAnn(shipment)).toMatchObject({ subscribers: 1 });
});

test("what is refused at its registration leaves it erased", async () => {
  const shipment = await register();
  await eraseAnn(shipment);
  const before = await subscribers();
  await expect(
    database.sql`SELECT owed.subscribe(${shipment}, ${ann}, 'nobody', 'email', 'ann@example.com')`,
  ).rejects.toMatchObject({ code: "OW003", column_name: "role" });
  expect(await subscribers()).toEqual(before);
});

test("its other channels follow it, and it may opt out by the id that it had", async () => {
  const shipment = await register();
  await watch(database, { address: "+436641234567", recipient: ann, channel: "sms" }, shipment);
  expect(await eraseAnn(shipment)).toMatchObject({ subscribers: 2 });
  expect(await eraseAnn(shipment)).toMatchObject({ id: null });
  const optOut = () => database.sql`SELECT owed.opt_out(${shipment}, ${ann}, 'sms') AS was`;
  expect(await optOut()).toEqual([{ was: true }]);
  expect(await optOut()).toEqual([{ was: false }]);
  await register(shipment);
  const both = await subscribers();
  expect(both.map(({ erased }) => erased)).toEqual([false, true]);
  expect(await eraseAnn(shipment)).toMatchObject({ subscribers: 1 });
});

test("what an old sender said of it goes by its new id, said twice or later too", async () => {
  const shipment = await register();
  await tell(database, shipment);
  const [event] = await database.sql<{ id: string }[]>`
    SELECT id FROM owed.event WHERE shipment_id = ${shipment}`;
  const say = () => database.sql`
    INSERT INTO owed.old_send (merchant_id, event_id, recipient_id, channel, template, sent_at, provider_message_id)
    VALUES ('M-1', ${event?.id ?? ""}, ${ann}, 'email', 'picked_up', '2026-01-01', 'x')`;
  const said = async () =>
    (await database.sql<{ id: string }[]>`SELECT recipient_id AS id FROM owed.old_send`).map(({ id }) => id);
  await say();
  expect(await eraseAnn(shipment)).toMatchObject({ texts: 1 });
  const name = (await subscribers())[0]?.recipient;
  expect(await said()).toEqual([name]);
  await say();
  expect(await eraseAnn(shipment)).toMatchObject({ id: expect.any(String), subscribers: 0, texts: 1 });
  expect(await said()).toEqual([name]);
  expect(await everything(database)).not.toContain("ann@example.com");
  await say();
  await register(shipment);
  expect(await said()).toEqual([ann]);
});
