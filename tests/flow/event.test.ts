import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { countAttempts, delivered, readRow, readRows, statesAre } from "../support/ledger-rows.ts";
import { depth } from "../support/queue.ts";
import { happen, registerShipment } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

const changed = (shipment_id: string, status: string) => ({
  source: "platform",
  "detail-type": "shipment.status_changed",
  detail: { id: `evt-${randomUUID()}`, shipment_id, status, occurred_at: new Date().toISOString() },
});

/** The row is delivered, one email in the mailbox carries its id, and no queue holds anything any more. */
async function expectDelivered(): Promise<void> {
  await delivered(cloud, 1);
  const row = await readRow(cloud);
  expect(cloud.ses.sent).toMatchObject([
    {
      to: ['"buyer" <buyer@example.com>'],
      tags: { notification: row.id },
      messageId: row.provider_message_id,
    },
  ]);
  expect(row).toMatchObject({ state: "delivered", attempts: 1, outcome: "accepted", generation: 0 });
  const { notification, event } = cloud.queues;
  await eventually(async () => {
    for (const { url, deadLetters } of [notification, event]) {
      expect(await depth(cloud, url)).toBe(0);
      expect(await depth(cloud, deadLetters.url)).toBe(0);
    }
  });
}

test("an event on the bus becomes a delivered notification", async () => {
  cloud.run("ingest");
  cloud.run("deliver");
  const shipment = await registerShipment(cloud);
  await cloud.bus.put(changed(shipment, "out_for_delivery"));
  await statesAre(cloud, { pending: 1 });

  expect(await cloud.sweep()).toMatchObject({ swept: true, leased: 1, published: 1, owed: 0 });
  await expectDelivered();
  expect(await readRow(cloud)).toMatchObject({ evidence: "reply" });
});

test("so does an event of the platform's own transaction, and none of one that is rolled back", async () => {
  cloud.run("deliver");
  const shipment = await registerShipment(cloud);
  const record = (status: string) =>
    cloud.sql.begin(async (transaction) => {
      await transaction`SELECT owed.record_event(${`evt-${randomUUID()}`}, ${shipment}, ${status}, now())`;
      if (status === "picked_up") throw new Error("the platform changed its mind");
    });
  await expect(record("picked_up")).rejects.toThrow("changed its mind");
  await record("out_for_delivery");

  expect(await cloud.sweep()).toMatchObject({ published: 1 });
  await expectDelivered();
  expect(await readRow(cloud)).toMatchObject({ status: "out_for_delivery" });
});

test("one event tells everybody who watches the shipment", async () => {
  cloud.run("ingest");
  cloud.run("deliver");
  const shipment = await registerShipment(cloud, ["buyer", "merchant", "agent", "warehouse"]);
  await cloud.bus.put(changed(shipment, "delivery_exception"));
  await statesAre(cloud, { pending: 4 });
  await cloud.sweep();
  await delivered(cloud, 4);
  expect(cloud.ses.sent.flatMap((email) => email.to).toSorted()).toEqual(
    ["agent", "buyer", "merchant", "warehouse"].map((role) => `"${role}" <${role}@example.com>`),
  );
});

test("the provider's own event alone makes a row delivered, when nobody could record its answer", async () => {
  const event = Promise.withResolvers<void>();
  cloud.ses.faults.add(() => ({ drop: "after", holdEvent: event.promise }));
  cloud.run("deliver");
  cloud.run("feedback");
  await happen(cloud, await registerShipment(cloud), "out_for_delivery");
  await cloud.sweep();
  await statesAre(cloud, { unknown: 1 });
  // While the outcome is open nobody sends again.
  await passTime(cloud.sql, 10 * 60);
  expect(await cloud.sweep()).toMatchObject({ leased: 0, resent: 0 });

  event.resolve();
  await expectDelivered();
  expect(await readRow(cloud)).toMatchObject({ evidence: "feedback", reason: null });
  await passTime(cloud.sql, 24 * 60 * 60);
  expect(await cloud.sweep()).toMatchObject({ leased: 0 });
  expect(await countAttempts(cloud)).toEqual({ unknown: 1 });
  expect(await readRows(cloud)).toHaveLength(1);
});
