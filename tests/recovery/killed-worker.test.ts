import { ChangeMessageVisibilityCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { readStatus } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { toRecord } from "../../packages/local/src/event-source/record.ts";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { invokeDoomed } from "../support/doomed.ts";
import { eventually } from "../support/eventually.ts";
import { countAttempts, delivered, expectOneEmailEach, readRow } from "../support/ledger-rows.ts";
import { depth } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

const never = new Promise<never>(() => {});
const notificationQueue = () => cloud.queues.notification;

/** Publishes one row, and receives its message for a worker that will be killed. Returns what lets it come again. */
async function receiveForDoomed(): Promise<{ event: unknown; comeAgain: () => Promise<void> }> {
  await owe(cloud, 1);
  await cloud.sweep();
  const { url: QueueUrl, arn } = notificationQueue();
  const { Messages: [message] = [] } = await cloud.client.send(
    new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ["All"] }),
  );
  if (!message) throw new Error("the sweep published nothing");
  return {
    event: { Records: [toRecord(message, arn, cloud.sqs.region)] },
    async comeAgain() {
      const { ReceiptHandle } = message;
      await cloud.client.send(
        new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }),
      );
    },
  };
}

/** Waits until the queue's message is acknowledged. */
const acknowledged = () =>
  eventually(async () => expect(await depth(cloud, notificationQueue().url)).toBe(0));

test("killed before the provider accepted: unknown, and resent after the grace as a possible duplicate", async () => {
  const { event, comeAgain } = await receiveForDoomed();
  const called = Promise.withResolvers<void>();
  const mend = cloud.ses.faults.add(() => {
    called.resolve();
    // The request is there; what would become of it comes after the worker's end.
    return { delay: 60_000, drop: "before" };
  });
  const doomed = invokeDoomed(cloud, "deliver", event);
  await called.promise;
  await doomed.kill();
  mend();
  expect(await readRow(cloud)).toMatchObject({ state: "sending", attempts: 1 });

  await passTime(cloud.sql, 61);
  cloud.run("deliver");
  await comeAgain();
  await acknowledged();
  expect(await readRow(cloud), "met by its own message after the send lease").toMatchObject({
    state: "unknown",
  });
  expect(await cloud.sweep(), "within the grace").toMatchObject({ leased: 0, resent: 0 });
  expect(cloud.ses.sent).toEqual([]);

  await passTime(cloud.sql, 15 * 60 + 1);
  expect(await cloud.sweep()).toMatchObject({ resent: 1, published: 1 });
  await delivered(cloud, 1);
  await expectOneEmailEach(cloud, 1);
  expect(await readRow(cloud)).toMatchObject({ generation: 1, resends: 1 });
  expect(await countAttempts(cloud)).toEqual({ unknown: 1, resent: 1 });
  expect(await readStatus(cloud.ledger)).toMatchObject({ possibleDuplicates: 1, duplicates: 0 });
});

test("killed before the provider accepted, and its message gone: the sweep finds the row", async () => {
  const { event } = await receiveForDoomed();
  const called = Promise.withResolvers<void>();
  const mend = cloud.ses.faults.add(() => {
    called.resolve();
    return { delay: 60_000, drop: "before" };
  });
  const doomed = invokeDoomed(cloud, "deliver", event);
  await called.promise;
  await doomed.kill();
  mend();
  // The claim left the row where the mark had put it: looked at when its message would count as lost.
  await passTime(cloud.sql, 20 * 60 + 1);
  expect(await cloud.sweep()).toMatchObject({ unknown: 1, rescued: 0, published: 0 });
  await passTime(cloud.sql, 15 * 60 + 1);
  expect(await cloud.sweep()).toMatchObject({ resent: 1, published: 1 });
});

test.each([
  ["before anybody looks", true],
  ["after the row became unknown", false],
])("killed after the provider accepted: proven by its event %s, and never sent again", async (_, early) => {
  const { event, comeAgain } = await receiveForDoomed();
  const evidence = Promise.withResolvers<void>();
  cloud.ses.faults.add(() => ({ hold: never, holdEvent: evidence.promise }));
  const doomed = invokeDoomed(cloud, "deliver", event);
  await eventually(() => expect(cloud.ses.sent).toHaveLength(1));
  await doomed.kill();
  expect(await readRow(cloud)).toMatchObject({ state: "sending" });

  if (!early) {
    await passTime(cloud.sql, 20 * 60 + 1);
    expect(await cloud.sweep()).toMatchObject({ unknown: 1 });
  }
  cloud.run("feedback");
  evidence.resolve();
  await delivered(cloud, 1);

  cloud.run("deliver");
  await comeAgain();
  await acknowledged();
  await passTime(cloud.sql, 60 * 60);
  expect(await cloud.sweep()).toMatchObject({ leased: 0, resent: 0, unknown: 0 });
  expect(await readRow(cloud)).toMatchObject({ evidence: "feedback", attempts: 1, generation: 0 });
  await expectOneEmailEach(cloud, 1);
  expect(await readStatus(cloud.ledger)).toMatchObject({ possibleDuplicates: 0, duplicates: 0 });
});
