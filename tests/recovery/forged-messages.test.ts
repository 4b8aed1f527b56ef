import { randomUUID } from "node:crypto";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { countStates, delivered, expectOneEmailEach, readRow, readRows } from "../support/ledger-rows.ts";
import { depth, eventOf } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

test("messages that no sweep wrote are acknowledged without a send, and do no harm", async () => {
  const rows = 6;
  await owe(cloud, rows);
  const [{ id } = { id: "" }] = await readRows(cloud);
  const bodies = [
    JSON.stringify({ id: randomUUID(), generation: 0 }),
    JSON.stringify({ id, generation: 7 }),
    JSON.stringify({ id, generation: -1 }),
    JSON.stringify({ id, generation: "0" }),
    JSON.stringify({ id: id.toUpperCase(), generation: 0 }),
    JSON.stringify({ id: `${id}'; DROP TABLE owed.notification; --`, generation: 0 }),
    JSON.stringify([{ id, generation: 0 }]),
    JSON.stringify({ generation: 2 ** 40 }),
    "null",
    "{",
    "not JSON 📦",
  ];
  const { url, deadLetters } = cloud.queues.notification;
  for (const MessageBody of bodies) {
    const id = randomUUID();
    await cloud.client.send(
      new SendMessageCommand({ QueueUrl: url, MessageBody, MessageGroupId: id, MessageDeduplicationId: id }),
    );
  }
  await cloud.sweep();
  const deliver = cloud.run("deliver");
  await delivered(cloud, rows);
  await eventually(async () => expect(await depth(cloud, url)).toBe(0));
  expect(deliver.stats).toMatchObject({ failed: 0, errors: 0, deleted: rows + bodies.length });
  expect(await depth(cloud, deadLetters.url)).toBe(0);
  await expectOneEmailEach(cloud, rows);
  expect((await readRows(cloud)).every((row) => row.attempts === 1 && row.generation === 0)).toBe(true);
});

test("a message of a row that is in its batch twice is acknowledged, and one email sent", async () => {
  await owe(cloud, 3);
  await cloud.sweep();
  const messages = (await readRows(cloud)).map(({ id, generation, group }) => ({ id, generation, group }));
  const answer = await cloud.deliver(eventOf([...messages, ...messages, ...messages.toReversed()]));
  expect(answer.batchItemFailures).toEqual([]);
  await expectOneEmailEach(cloud, 3);
});

test("the same batch with two workers at once is sent by one of them", async () => {
  await owe(cloud, 10);
  await cloud.sweep();
  const messages = (await readRows(cloud)).map(({ id, generation, group }) => ({ id, generation, group }));
  const answers = await Promise.all([1, 2, 3].map(() => cloud.deliver(eventOf(messages))));
  expect(answers.flatMap((answer) => answer.batchItemFailures)).toEqual([]);
  await expectOneEmailEach(cloud, 10);
});

test("generations out of order: only the row's own is sent", async () => {
  await owe(cloud, 1);
  const { id, group } = await readRow(cloud);
  await cloud.sql`UPDATE owed.notification SET generation = 2`;
  await cloud.sweep();
  for (const generation of [3, 1, 0]) {
    const answer = await cloud.deliver(eventOf([{ id, generation, group }]));
    expect(answer.batchItemFailures).toEqual([]);
    expect(await countStates(cloud)).toEqual({ queued: 1 });
  }
  const all = [3, 2, 1, 0].map((generation) => ({ id, generation, group }));
  expect((await cloud.deliver(eventOf(all))).batchItemFailures).toEqual([]);
  await expectOneEmailEach(cloud, 1);
  expect(await readRow(cloud)).toMatchObject({ attempts: 1 });
});
