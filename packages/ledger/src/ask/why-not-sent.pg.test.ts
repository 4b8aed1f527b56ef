import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { setRule } from "../rule/set-rule.ts";
import { readRows } from "../testing/rows.ts";
import { readCircumstances } from "./circumstances.ts";
import { explainMoot, readMoot } from "./moot.ts";
import { listUntold } from "./untold.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const act = { actor: "ann", why: "a test" };

test("what waits and is no longer to be sent, with what made it so", async () => {
  const shipment = await registerShipment(database, ["buyer"]);
  await happen(database, shipment, "picked_up");
  const [row] = await readRows(database, shipment);
  const id = row?.id ?? "";
  expect(await explainMoot(database.ledger, [id])).toEqual(new Map());
  await database.sql`SELECT owed.opt_out(${shipment}, 'buyer-1', 'email')`;
  expect(await explainMoot(database.ledger, [id])).toEqual(
    new Map([[id, { reason: "opted_out", by: "recipient" }]]),
  );
  expect(await readMoot(database.ledger, [id])).toEqual(new Map([[id, "opted_out"]]));
});

test("a shipment's circumstances; none of one that the ledger does not know", async () => {
  const shipment = await registerShipment(database, ["buyer", "agent"]);
  const event = await happen(database, shipment, "picked_up");
  await database.sql`SELECT owed.opt_out(${shipment}, 'buyer-1', 'email')`;
  const [suppression] = await database.sql<{ id: string }[]>`
    INSERT INTO owed.suppression (channel, address, cause) VALUES ('sms', '+12025550143', 'opted_out') RETURNING id::text`;
  const id = suppression?.id ?? "";
  expect(await readCircumstances(database.ledger, shipment, [id])).toEqual({
    ...{ merchantId: "M-1", mode: "owed", claims: [] },
    events: [{ id: event, status: "picked_up", occurredAt: expect.any(Date) }],
    subscribers: [
      { recipientId: "buyer-1", role: "buyer", channel: "email", optedOutAt: expect.any(Date) },
      { recipientId: "agent-1", role: "agent", channel: "email", optedOutAt: null },
    ],
    suppressions: [{ id, cause: "opted_out", at: expect.any(Date) }],
  });
  expect((await readCircumstances(database.ledger, shipment, []))?.suppressions).toEqual([]);
  expect(await readCircumstances(database.ledger, "S-nowhere", [])).toBeNull();
});

test("whom an event told nothing: no rule, nobody, subscribed later; by the rules that counted then", async () => {
  const shipment = await registerShipment(database, ["buyer", "agent"]);
  const event = await happen(database, shipment, "delivered");
  const of = async (role: string, recipientId?: string) =>
    (await listUntold(database.ledger, { shipmentId: shipment, recipientId }))
      .filter((one) => one.role === role)
      .map(({ eventId, channel, why }) => [eventId, channel, why]);
  expect(await of("agent")).toEqual([[event, "email", "no_rule"]]);
  expect(await of("merchant")).toContainEqual([event, "email", "nobody"]);
  expect(await of("merchant", "buyer-1")).toEqual([]);
  expect(await of("buyer")).toEqual([]);
  await database.sql`SELECT owed.subscribe(${shipment}, 'merchant-1', 'merchant', 'email', 'shop@example.com', 'Shop')`;
  expect(await of("merchant", "merchant-1")).toContainEqual([event, "email", "later"]);
  const rule: Parameters<typeof setRule>[1] = {
    ...{ merchantId: null, status: "delivered", role: "agent", channel: "email", template: "delivered" },
    ...{ delay: 0, atTime: null, sendWithin: null, onlyWhileCurrent: false, newestReplaces: true },
    ...{ onUnknown: "resend", silent: false },
  };
  await setRule(database.ledger, rule, act);
  expect(await of("agent")).toEqual([[event, "email", "no_rule"]]);
  await setRule(database.ledger, { ...rule, merchantId: "M-1", status: "returned", silent: true }, act);
  const silent = await happen(database, shipment, "returned");
  expect(await of("agent")).toContainEqual([silent, "email", "silent"]);
});
