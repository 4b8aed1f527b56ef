import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen } from "../../../../tests/support/shipment.ts";
import { recordEvidence } from "../deliver/record-evidence.ts";
import { erase } from "../retain/erase.ts";
import { proofOf } from "../testing/act.ts";
import { tell, watch } from "../testing/person.ts";
import { passDays, retainAll, startRound } from "../testing/retention.ts";
import { empty, readRow } from "../testing/rows.ts";
import { findNotified, type NotifiedQuestion } from "./find-notified.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  await empty(database);
  await database.sql`TRUNCATE owed.subscriber CASCADE`;
});
afterAll(() => database.drop());

const find = (by: NotifiedQuestion["by"], value: string, most = 20) =>
  findNotified(database.ledger, { by, value, most });
const shipments = async (by: NotifiedQuestion["by"], value: string, most = 20) =>
  (await find(by, value, most)).map(({ shipmentId }) => shipmentId);
const ann = { address: "Ann.Lee@Example.com", recipient: "ann" };
async function archive(): Promise<void> {
  await passDays(database, 91);
  await startRound(database);
  await retainAll(database);
}

test("nobody", async () => {
  await tell(database, await watch(database, ann));
  for (const by of ["recipient", "address", "message"] as const)
    for (const value of ["", " ", "nix", "%", "' OR true --", "ann%"])
      expect(await find(by, value)).toEqual([]);
});

describe("by the recipient", () => {
  test("of whatever shipments, the newest first, with what the ledger has for that recipient", async () => {
    const first = await watch(database, ann);
    await watch(database, { ...ann, address: "+43 660 1234567", channel: "sms" }, first);
    await watch(database, { address: "ben@example.com", recipient: "ben" }, first);
    const second = await watch(database, ann);
    await happen(database, first, "customs_hold");
    const [last] = await database.sql<{ due: Date; rows: number }[]>`
      SELECT max(n.due_at) AS due, count(*)::int AS rows FROM owed.notification n JOIN owed.subscriber s ON s.id = n.subscriber_id
      WHERE s.recipient_id = 'ann'`;
    expect(last?.rows).toBeGreaterThan(1);
    const base = {
      merchantId: "M-1",
      merchantName: "Shop",
      recipientId: "ann",
      role: "buyer",
      notificationId: null,
    };
    expect(await find("recipient", " ann ")).toEqual([
      { ...base, shipmentId: second, channels: ["email"], notifications: 0, lastDueAt: null },
      {
        ...base,
        shipmentId: first,
        channels: ["email", "sms"],
        notifications: last?.rows,
        lastDueAt: last?.due,
      },
    ]);
    expect(await find("recipient", "Ann")).toEqual([]);
  });

  test("as many as asked for, though each has a subscription in every channel", async () => {
    const made: string[] = [];
    for (let number = 0; number < 4; number += 1) {
      const shipment = await watch(database, ann);
      await watch(database, { ...ann, address: "+43 660 1234567", channel: "sms" }, shipment);
      await watch(database, { ...ann, address: "https://example.com/ann", channel: "webhook" }, shipment);
      made.unshift(shipment);
    }
    expect(await shipments("recipient", "ann", 3)).toEqual(made.slice(0, 3));
    expect(await shipments("recipient", "ann", 1)).toEqual(made.slice(0, 1));
    expect(await shipments("address", ann.address, 3)).toEqual(made.slice(0, 3));
    expect(await shipments("address", ann.address, 1)).toEqual(made.slice(0, 1));
    // The newest subscription counts, whichever channel's.
    const last = made.at(-1) ?? "";
    await watch(database, { ...ann, channel: "sms", address: "+43 660 7654321" }, last);
    await database.sql`DELETE FROM owed.subscriber WHERE shipment_id = ${last} AND channel = 'webhook'`;
    await watch(database, { ...ann, address: "https://example.com/ann", channel: "webhook" }, last);
    expect((await shipments("recipient", "ann"))[0]).toBe(last);
  });

  test("also by the id that told who it was, before it was erased", async () => {
    const erased = { ...ann, recipient: "ann.lee@example.com" };
    for (let number = 0; number < 3; number += 1) await watch(database, erased);
    const shipment = await watch(database, erased);
    await tell(database, shipment);
    await erase(database.ledger, { address: ann.address }, { actor: "ops", why: "asked" }, { dryRun: false });
    expect(await find("address", ann.address)).toEqual([]);
    const [found, ...more] = await find("recipient", "ann.lee@example.com");
    expect(more).toHaveLength(3);
    expect(await shipments("recipient", "ann.lee@example.com", 1)).toEqual([shipment]);
    expect(found).toMatchObject({ shipmentId: shipment, notifications: 1 });
    expect(found?.recipientId).not.toContain("ann");
  });
});

describe("by an address", () => {
  test.each([
    ["email", "ANN.lee@example.COM", "annlee@example.com"],
    ["email", "  ann.lee@example.com ", "ann.lee@example.co"],
    ["sms", "+436601234567", "436601234567"],
    ["sms", " +43 (660) 123-45.67", "+43660123456"],
    ["webhook", "https://Shop.example/hooks/1", "https://shop.example/hooks-1"],
  ])("%s: %s, not %s", async (channel, typed, other) => {
    const address =
      { email: ann.address, sms: "+43 660 1234567", webhook: "https://shop.example/hooks/1" }[channel] ?? "";
    const shipment = await watch(database, { ...ann, address, channel });
    expect(await shipments("address", typed)).toEqual([shipment]);
    expect(await find("address", other)).toEqual([]);
  });

  test("that the subscriber has no more, in the archive too", async () => {
    const shipment = await watch(database, ann);
    await tell(database, shipment);
    await watch(database, { ...ann, address: "ann@new.example" }, shipment);
    const newer = await watch(database, ann);
    expect(await shipments("address", " ann.lee@EXAMPLE.com")).toEqual([newer, shipment]);
    expect(await shipments("address", "ann@new.example")).toEqual([shipment]);
    await archive();
    expect(await shipments("address", ann.address)).toEqual([newer, shipment]);
    expect((await find("address", "ann@new.example"))[0]).toMatchObject({ notifications: 1 });
    expect(await find("address", "annlee@example.com")).toEqual([]);
  });
});

test("an address that was corrected to and fro is found whichever is the one now", async () => {
  const other = { ...ann, address: "ann@new.example" };
  const shipment = await watch(database, ann);
  for (const one of [other, ann, other, ann]) {
    await watch(database, one, shipment);
    for (const { address } of [ann, other]) expect(await shipments("address", address)).toEqual([shipment]);
  }
  await database.sql`SELECT owed.subscribe(${shipment}, 'ann', 'buyer', 'email', NULL)`;
  for (const { address } of [ann, other]) expect(await shipments("address", address)).toEqual([shipment]);
});

test("who has an address comes before who had it, where there is not room for both", async () => {
  const now = [await watch(database, ann), await watch(database, ann), await watch(database, ann)];
  const before = await watch(database, ann);
  await tell(database, before);
  await watch(database, { ...ann, address: "ann@new.example" }, before);
  const [channels] = await database.sql<{ rows: number }[]>`SELECT count(*)::int AS rows FROM owed.channel`;
  expect(channels?.rows).toBe(now.length);
  expect(await shipments("address", ann.address, 1)).toEqual(now.slice(-1));
  expect(await shipments("address", ann.address, 2)).toEqual([before, ...now.slice(-1)]);
});

test("of many who had an address the newest ones", async () => {
  const made: string[] = [];
  for (let number = 0; number < 8; number += 1) {
    const shipment = await watch(database, ann);
    await watch(database, { ...ann, address: "ann@new.example" }, shipment);
    made.unshift(shipment);
  }
  expect(await shipments("address", ann.address, 1)).toEqual(made.slice(0, 1));
  expect(await shipments("address", ann.address, 2)).toEqual(made.slice(0, 2));
});

describe("by a provider's message id", () => {
  test("with the notification, in the archive too", async () => {
    const shipment = await watch(database, ann);
    const id = await tell(database, shipment);
    await tell(database, await watch(database, ann));
    const found = { shipmentId: shipment, recipientId: "ann", notificationId: id, notifications: 1 };
    expect(await find("message", ` P-${id} `)).toMatchObject([found]);
    expect(await find("message", `p-${id}`)).toEqual([]);
    await archive();
    expect(await find("message", `P-${id}`)).toMatchObject([found]);
  });

  test("also of a duplicate", async () => {
    const shipment = await watch(database, ann);
    const id = await tell(database, shipment);
    await recordEvidence(database.ledger, [{ ...proofOf(id), providerMessageId: "P-again" }]);
    expect((await readRow(database, id)).provider_message_id).toBe(`P-${id}`);
    expect(await find("message", "P-again")).toMatchObject([{ shipmentId: shipment, notificationId: id }]);
  });

  test("of several with the same id one of each recipient: the newest", async () => {
    const one = await watch(database, ann);
    const two = await watch(database, ann);
    for (const shipment of [one, two]) await tell(database, shipment);
    await happen(database, one, "out_for_delivery");
    await database.sql`
      UPDATE owed.notification SET state = 'delivered', delivered_at = now(), evidence = 'reply', owed_at = NULL WHERE state = 'pending'`;
    await database.sql`UPDATE owed.notification SET provider_message_id = 'same' WHERE state = 'delivered'`;
    const [newest] = await database.sql<{ id: string }[]>`
      SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
      WHERE e.shipment_id = ${one} AND n.provider_message_id = 'same' ORDER BY n.id DESC LIMIT 1`;
    expect(await find("message", "same", 1)).toHaveLength(1);
    const found = await find("message", "same");
    expect(found.map(({ shipmentId }) => shipmentId)).toEqual([two, one]);
    expect(found[1]?.notificationId).toBe(newest?.id);
  });

  test("of what the old sender sent, be there a row for it or not", async () => {
    await database.sql`INSERT INTO owed.merchant (id, name, mode) VALUES ('M-1', 'Shop', 'old') ON CONFLICT (id) DO UPDATE SET mode = 'old'`;
    const shipment = await watch(database, ann);
    const event = await happen(database, shipment, "picked_up");
    const say = (template: string, message: string) =>
      database.sql`SELECT owed.old_sent('M-1', ${event}, 'ann', 'email', ${template}, 'postmark', ${message}, now())`;
    const [row] = await database.sql<{ id: string; template: string }[]>`
      SELECT n.id, r.template FROM owed.notification n JOIN owed.rule r ON r.id = n.rule_id`;
    await say(row?.template ?? "", "O-1");
    await say(row?.template ?? "", "O-2");
    await say("of_its_own", "O-3");
    await database.sql`UPDATE owed.merchant SET mode = 'owed' WHERE id = 'M-1'`;
    for (const message of ["O-1", "O-2"])
      expect(await find("message", message), message).toMatchObject([
        { shipmentId: shipment, recipientId: "ann", notificationId: row?.id, notifications: 1 },
      ]);
    expect(await find("message", "O-3")).toMatchObject([
      { shipmentId: shipment, recipientId: "ann", notificationId: null },
    ]);
  });
});
