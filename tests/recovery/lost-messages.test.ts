import { PurgeQueueCommand } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import {
  countAttempts,
  countStates,
  delivered,
  expectOneEmailEach,
  readRows,
  statesAre,
} from "../support/ledger-rows.ts";
import { depth, watchPublishes } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

const queueUrl = () => cloud.queues.notification.url;
const lostAfter = 20 * 60;

test("a purged queue is noticed by two sweeps, and its messages are published again under new ids", async () => {
  const rows = 15;
  await owe(cloud, rows);
  await cloud.sweep();
  await cloud.client.send(new PurgeQueueCommand({ QueueUrl: queueUrl() }));

  await passTime(cloud.sql, lostAfter + 1);
  const published = watchPublishes(cloud);
  expect(await cloud.sweep(), "one look proves nothing: SQS's counts lag").toMatchObject({
    leased: 0,
    rescued: 0,
  });
  expect(await cloud.sweep(), "nor does a second one at once").toMatchObject({ leased: 0, rescued: 0 });
  await passTime(cloud.sql, 55);
  expect(await cloud.sweep()).toMatchObject({ rescued: rows, published: rows });

  // Within five minutes of the first publish, whose ids SQS still remembers.
  expect(published.ids.toSorted()).toEqual(
    (await readRows(cloud)).map(({ id }) => `shipment-notif-${id}.1`).toSorted(),
  );
  expect(await depth(cloud, queueUrl())).toBe(rows);
  cloud.run("deliver");
  await delivered(cloud, rows);
  await expectOneEmailEach(cloud, rows);
  expect(await countAttempts(cloud)).toEqual({ rescued: rows });
});

test("single messages that got lost are known by later ones that came through", async () => {
  const swallow = cloud.sqs.faults.add(({ action }) =>
    action === "SendMessageBatch" ? { swallow: true } : undefined,
  );
  await owe(cloud, 8);
  await cloud.sweep();
  swallow();
  expect(await countStates(cloud)).toEqual({ queued: 8 });

  await passTime(cloud.sql, 90);
  await owe(cloud, 5);
  await cloud.sweep();
  const consumer = cloud.run("deliver");
  await statesAre(cloud, { queued: 8, delivered: 5 });
  await consumer.pause();

  await passTime(cloud.sql, lostAfter + 3 * 60);
  // A queue that is not empty, as in production.
  await owe(cloud, 3);
  await cloud.sweep();
  const published = watchPublishes(cloud);
  expect(await cloud.sweep()).toMatchObject({ rescued: 8, published: 8 });
  expect(published.ids.every((id) => id.endsWith(".1"))).toBe(true);
  consumer.resume();
  await delivered(cloud, 16);
  await expectOneEmailEach(cloud, 16);
});

test("while the consumer is merely down nothing is published twice, however long", async () => {
  const rows = 15;
  const published = watchPublishes(cloud);
  await owe(cloud, rows);
  await cloud.sweep();
  for (const beat of [1, 2, 3, 4]) {
    await passTime(cloud.sql, lostAfter + beat);
    expect(await cloud.sweep()).toMatchObject({ leased: 0, rescued: 0, lost: 0 });
  }
  expect(published.ids).toHaveLength(rows);
  expect(await depth(cloud, queueUrl())).toBe(rows);

  cloud.run("deliver");
  await delivered(cloud, rows);
  await expectOneEmailEach(cloud, rows);
  expect((await readRows(cloud)).every((row) => row.generation === 0 && row.attempts === 1)).toBe(true);
});
