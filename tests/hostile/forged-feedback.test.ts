import { randomUUID } from "node:crypto";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { countAttempts, delivered, readRow, readRows } from "../support/ledger-rows.ts";
import { depth } from "../support/queue.ts";
import { happen, owe, registerShipment } from "../support/shipment.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

// Events of somebody who may send to the feedback queue.

type Detail = {
  id: string;
  eventType: string;
  messageId?: string;
  timestamp?: string;
  [more: string]: unknown;
};

async function tell({ id, eventType, ...given }: Detail): Promise<void> {
  const { messageId = `forged-${randomUUID()}`, timestamp = new Date().toISOString(), ...more } = given;
  const mail = {
    messageId,
    timestamp,
    destination: ["victim@example.org"],
    tags: { notification: [id], "ses:configuration-set": ["somebody-elses"] },
  };
  const MessageBody = JSON.stringify({
    source: "aws.ses",
    "detail-type": "Email Event",
    detail: { eventType, mail, ...more },
  });
  await cloud.client.send(new SendMessageCommand({ QueueUrl: cloud.queues.feedback.url, MessageBody }));
}

const feedbackIsRead = () =>
  eventually(async () => expect(await depth(cloud, cloud.queues.feedback.url)).toBe(0));
const suppressions = () => cloud.sql`SELECT address, cause FROM owed.suppression`;
const bounce = {
  bounceType: "Permanent",
  bounceSubType: "General",
  bouncedRecipients: [{ emailAddress: "victim@example.org", action: "failed" }],
};

test("a bounce of another message than the row's is a duplicate, and takes no address out of use", async () => {
  cloud.run("deliver");
  await owe(cloud, 1);
  await cloud.sweep();
  await delivered(cloud, 1);
  await cloud.bus.idle();
  const { id, provider_message_id: real } = await readRow(cloud);
  cloud.run("feedback");
  await feedbackIsRead();
  await tell({ id, eventType: "Bounce", bounce });
  await tell({ id, eventType: "Bounce", bounce, messageId: "<script>" });
  await tell({ id, eventType: "Delivery", messageId: "a b" });
  await tell({ id, eventType: "Click", link: "https://evil.example" });
  await feedbackIsRead();
  expect(await readRow(cloud)).toMatchObject({
    state: "delivered",
    evidence: "reply",
    outcome: "accepted",
    provider_message_id: real,
  });
  expect(await suppressions()).toEqual([]);
  expect(await countAttempts(cloud)).toEqual({ duplicate: 2 });
});

test("an event names a row, never an address: what it can take out of use is the row's own", async () => {
  cloud.run("deliver");
  await owe(cloud, 2);
  await cloud.sweep();
  await delivered(cloud, 2);
  await cloud.bus.idle();
  const [one, two] = await readRows(cloud);
  cloud.run("feedback");
  await tell({ id: one?.id ?? "", eventType: "Bounce", bounce, messageId: one?.provider_message_id ?? "" });
  await feedbackIsRead();
  expect(await suppressions()).toEqual([{ address: one?.address, cause: "bounced" }]);
  expect((await readRows(cloud)).find(({ id }) => id === two?.id)).toMatchObject({ outcome: "accepted" });
});

test("what the ledger can't know: an acceptance of a row that nobody sent is believed, and shows that nobody did", async () => {
  const shipment = await registerShipment(cloud);
  await happen(cloud, shipment, "out_for_delivery");
  const { id } = await readRow(cloud);
  cloud.run("feedback");
  await tell({ id: id.toUpperCase(), eventType: "Send" });
  await tell({ id: `${id}\0`, eventType: "Send" });
  await feedbackIsRead();
  expect(await readRow(cloud)).toMatchObject({ state: "pending" });
  // A ledger that was restored from a backup lacks its latest claims, and this evidence is what keeps it from sending twice.
  await tell({ id, eventType: "Send" });
  await feedbackIsRead();
  expect(await readRow(cloud)).toMatchObject({ state: "delivered", evidence: "feedback", attempts: 0 });
  expect(await cloud.sweep()).toMatchObject({ leased: 0 });
  expect(cloud.ses.sent).toEqual([]);
});

test("no row is delivered in the future, whenever an event says that it was", async () => {
  await owe(cloud, 1);
  cloud.run("feedback");
  const { id } = await readRow(cloud);
  await tell({ id, eventType: "Send", timestamp: "9999-12-31T23:59:59.9999999-15:59" });
  await feedbackIsRead();
  const row = await cloud.sql`SELECT state, delivered_at <= clock_timestamp() AS past FROM owed.notification`;
  expect(row).toEqual([{ state: "delivered", past: true }]);
});
