import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { liftSuppression, subscribe } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { delivered, type Row, readRow, readRows } from "../support/ledger-rows.ts";
import { depth, eventOf } from "../support/queue.ts";
import { happen, registerShipment } from "../support/shipment.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

/** A new shipment with one buyer, about which something happens that the buyer is to be told. Returns its id. */
async function tell(address: string): Promise<string> {
  const shipmentId = await registerShipment(cloud, []);
  const buyer = { recipientId: "buyer", role: "buyer", channel: "email", name: "Ana", locale: "en" } as const;
  await subscribe(cloud.ledger, { ...buyer, shipmentId, address });
  await happen(cloud, shipmentId, "out_for_delivery");
  return shipmentId;
}

async function rowOf(shipmentId: string): Promise<Row> {
  const [row, ...more] = (await readRows(cloud)).filter((each) => each.shipment_id === shipmentId);
  if (!row || more.length > 0) throw new Error(`${shipmentId} has ${row ? 1 + more.length : 0} rows`);
  return row;
}

const suppressions = () => cloud.sql<
  { address: string; cause: string; detail: string; lifted: boolean; id: string }[]
>`
  SELECT address, cause, detail, lifted_at IS NOT NULL AS lifted, notification_id AS id FROM owed.suppression ORDER BY id`;
const feedbackIsDone = () =>
  eventually(async () => expect(await depth(cloud, cloud.queues.feedback.url)).toBe(0));
/** The provider's events as they came into the feedback queue. */
function watchFeedback(): string[] {
  const bodies: string[] = [];
  cloud.sqs.faults.observe(({ action, queueName, request }) => {
    if (action !== "SendMessageBatch" || queueName !== "feedback") return;
    const entries = request.Entries as { MessageBody: string }[];
    bodies.push(...entries.map((entry) => entry.MessageBody));
  });
  return bodies;
}

const suppressed = { state: "cancelled", reason: "suppressed", attempts: 0 };

test("a permanent bounce takes the address out of use, wherever its notifications are, until it is lifted", async () => {
  const bounce = Promise.withResolvers<void>();
  const events = watchFeedback();
  const mend = cloud.ses.faults.add(() => ({
    fate: { kind: "bounce", late: true },
    holdFate: bounce.promise,
  }));
  const first = await tell("ana@example.com");
  const { id, generation } = await readRow(cloud);
  await cloud.sweep();
  await cloud.deliver(eventOf([{ id, generation }]));
  mend();
  const queued = await tell("Ana@Example.com");
  await cloud.sweep();
  const pending = await tell(" ANA@example.com");
  const other = await tell("bob@example.com");
  expect(await rowOf(first)).toMatchObject({ state: "delivered", outcome: "accepted" });
  expect(await rowOf(queued)).toMatchObject({ state: "queued" });
  expect(await rowOf(pending)).toMatchObject({ state: "pending" });

  cloud.run("feedback");
  bounce.resolve();
  await eventually(async () =>
    expect(await rowOf(first)).toMatchObject({ outcome: "bounced", reason: "Permanent: General" }),
  );
  const active = { address: "ana@example.com", cause: "bounced", detail: "Permanent: General", id };
  expect(await suppressions()).toEqual([{ ...active, lifted: false }]);

  const fannedOut = await tell("ANA@EXAMPLE.COM");
  expect(await rowOf(fannedOut), "at fan-out").toMatchObject(suppressed);
  expect(await cloud.sweep()).toMatchObject({ published: 1 });
  expect(await rowOf(pending), "at lease").toMatchObject(suppressed);
  cloud.run("deliver");
  await delivered(cloud, 2);
  await eventually(async () => expect(await rowOf(queued), "at claim").toMatchObject(suppressed));
  expect(await rowOf(other)).toMatchObject({ state: "delivered" });
  expect(cloud.ses.sent.map(({ to }) => to)).toEqual([
    ['"Ana" <ana@example.com>'],
    ['"Ana" <bob@example.com>'],
  ]);

  const act = { actor: "ops", why: "the mailbox is back" };
  await liftSuppression(cloud.ledger, { channel: "email", address: "Ana@example.com" }, act);
  const bounced = events.find((body) => body.includes('"Permanent"'));
  if (!bounced) throw new Error("SES emitted no bounce");
  await cloud.client.send(
    new SendMessageCommand({ QueueUrl: cloud.queues.feedback.url, MessageBody: bounced }),
  );
  await feedbackIsDone();
  expect(await suppressions(), "a repeat of the old bounce").toEqual([{ ...active, lifted: true }]);

  const afterwards = await tell("ana@example.com");
  expect(await cloud.sweep()).toMatchObject({ published: 1 });
  await delivered(cloud, 3);
  expect(await rowOf(afterwards)).toMatchObject({ state: "delivered" });
  for (const shipment of [queued, pending, fannedOut])
    expect(await rowOf(shipment), "what was cancelled stays so").toMatchObject(suppressed);
  expect(cloud.ses.sent).toHaveLength(3);
});

test("an address that bounces again after the lifting is suppressed again", async () => {
  cloud.run("deliver");
  cloud.run("feedback");
  cloud.ses.faults.add(() => ({ fate: { kind: "bounce" } }));
  for (const times of [1, 2]) {
    await tell("ana@example.com");
    await cloud.sweep();
    await eventually(async () => expect(await suppressions()).toHaveLength(times));
    const act = { actor: "ops", why: "try once more" };
    await liftSuppression(cloud.ledger, { channel: "email", address: "ana@example.com" }, act);
  }
});

test.each([
  ["success", { outcome: "arrived", reason: null }, "pending"],
  ["ooto", { outcome: "arrived", reason: null }, "pending"],
  ["bounce", { outcome: "bounced", reason: "Permanent: General" }, "cancelled"],
  ["suppressionlist", { outcome: "bounced", reason: "Permanent: Suppressed" }, "cancelled"],
  ["complaint", { outcome: "complained", reason: "complaint: abuse" }, "cancelled"],
])("SES's mailbox simulator, %s: %j, and the next notification is %s", async (name, first, next) => {
  cloud.run("deliver");
  cloud.run("feedback");
  const shipment = await tell(`${name}@simulator.amazonses.com`);
  await cloud.sweep();
  await eventually(async () => expect(await rowOf(shipment)).toMatchObject({ state: "delivered", ...first }));
  await cloud.bus.idle();
  await feedbackIsDone();
  expect(await rowOf(shipment), "the last of its events changes nothing").toMatchObject(first);
  expect(await rowOf(await tell(`${name.toUpperCase()}@simulator.amazonses.com`))).toMatchObject({
    state: next,
  });
});
