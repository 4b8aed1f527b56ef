import { PurgeQueueCommand, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { listStopped, replay } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { countAttempts, countStates, expectOneEmailEach, readRows } from "../support/ledger-rows.ts";
import { long } from "../support/long.ts";
import { minute, runWorker } from "../support/minute.ts";
import { watchPublishes } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";

/** More than a sweep looks at, and leases, at a time. */
const many = long ? 2000 : 300;

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ settings: { sweep: { slice: many / 2 } } });
  cloud.ses.quota.maxSendRate = 100_000;
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

const purge = () => cloud.client.send(new PurgeQueueCommand({ QueueUrl: cloud.queues.notification.url }));

/** Time goes by, two minutes a beat, until `rows` were rescued, or died in vain. Returns the minutes, half an hour at most. */
async function untilNoticed(rows: number): Promise<number> {
  let noticed = 0;
  for (let minutes = 2; minutes <= 30; minutes += 2) {
    const { rescued, lost } = await minute(cloud, 2);
    noticed += rescued + lost;
    if (noticed >= rows) return minutes;
  }
  throw new Error(`only ${noticed} of ${rows} lost messages were noticed in half an hour`);
}

test(`${many} messages are purged: all are noticed, published again and delivered once`, {
  timeout: 120_000,
}, async () => {
  const rows = many;
  cloud.ses.faults.add(() => ({ noEvent: true }));
  const published = watchPublishes(cloud);
  await owe(cloud, rows);
  expect(await cloud.sweep()).toMatchObject({ published: rows });
  await purge();

  const worker = runWorker(cloud);
  expect(await untilNoticed(rows)).toBeGreaterThanOrEqual(20);
  await worker.drained();
  expect(published.ids).toHaveLength(2 * rows);
  await expectOneEmailEach(cloud, rows);
  const unlike = (await readRows(cloud)).filter(
    ({ generation, rescues, attempts }) => generation !== 1 || rescues !== 1 || attempts !== 1,
  );
  expect(unlike).toEqual([]);
  expect(await countAttempts(cloud)).toEqual({ rescued: rows });
});

test("while traffic goes on, and the queue is never empty, later rows that came through prove the loss", async () => {
  const [lost, arriving] = [50, 3];
  cloud.ses.faults.add(() => ({ noEvent: true }));
  await owe(cloud, lost);
  const lostIds = new Set((await readRows(cloud)).map(({ id }) => id));
  expect(await cloud.sweep()).toMatchObject({ published: lost });
  await purge();
  await hang();

  const published = watchPublishes(cloud);
  const worker = runWorker(cloud);
  let rows = lost;
  for (let passed = 0; passed < 45; passed += 2) {
    await owe(cloud, arriving);
    rows += arriving;
    await minute(cloud, 2);
    await worker.drained();
  }
  await expectOneEmailEach(cloud, rows);
  expect(published.ids).toHaveLength(rows);
  const rescued = (await readRows(cloud)).filter((row) => row.rescues > 0);
  expect(new Set(rescued.map(({ id }) => id)), "nobody else was taken for lost").toEqual(lostIds);
  expect(await countAttempts(cloud)).toEqual({ rescued: lost });
});

test("purged again and again: dead after three rescues, and delivered by a replay", async () => {
  const rows = 20;
  const published = watchPublishes(cloud);
  await owe(cloud, rows);
  expect(await cloud.sweep()).toMatchObject({ published: rows });
  for (const rescues of [1, 2, 3]) {
    await purge();
    await untilNoticed(rows);
    expect(
      (await readRows(cloud)).every((row) => row.rescues === rescues && row.generation === rescues),
    ).toBe(true);
  }
  await purge();
  await untilNoticed(rows);
  expect(await countStates(cloud)).toEqual({ dead: rows });
  const stopped = await listStopped(cloud.ledger, { limit: 100 });
  expect(stopped).toHaveLength(rows);
  expect(stopped.every((row) => row.reason.startsWith("lost:") && row.attempts === 0)).toBe(true);
  // A dead row is left to a person, however long.
  for (let passed = 0; passed < 25; passed += 1) expect(await minute(cloud)).toMatchObject({ published: 0 });
  expect(published.ids).toHaveLength(4 * rows);

  const ids = stopped.map(({ id }) => id);
  const replayed = await replay(cloud.ledger, ids, { actor: "ann", why: "nobody purges it now" }, "redriven");
  expect(replayed.ids).toHaveLength(rows);
  const worker = runWorker(cloud);
  expect(await minute(cloud)).toMatchObject({ published: rows });
  await worker.drained();
  await expectOneEmailEach(cloud, rows);
  expect((await readRows(cloud)).every((row) => row.generation === 4 && row.attempts === 1)).toBe(true);
  expect(new Set(published.ids).size, "SQS swallowed none").toBe(5 * rows);
  expect(await countAttempts(cloud)).toEqual({ rescued: 3 * rows, lost: rows, redriven: rows });
});

/** A message that a hanging worker keeps in flight: the queue is never empty. */
async function hang(): Promise<void> {
  const { url: QueueUrl } = cloud.queues.notification;
  const id = "hangs";
  await cloud.client.send(
    new SendMessageCommand({ QueueUrl, MessageBody: "{}", MessageGroupId: id, MessageDeduplicationId: id }),
  );
  const { Messages = [] } = await cloud.client.send(
    new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 12 * 60 * 60 }),
  );
  expect(Messages).toHaveLength(1);
}

test("of a channel whose queue was full to its rate, the loss is noticed within minutes: nothing could be sent until then", async () => {
  cloud.ses.quota.maxSendRate = 1;
  cloud.ses.faults.add(() => ({ noEvent: true }));
  await owe(cloud, 80);
  expect(await cloud.sweep()).toMatchObject({ published: 60, owed: 20 });
  expect(await minute(cloud), "the queue is full").toMatchObject({ published: 0, rescued: 0 });
  await purge();
  const rescued = [];
  for (let beat = 0; beat < 4; beat += 1) rescued.push((await minute(cloud)).rescued);
  expect(rescued, "two looks that find it empty, and one more at the rows").toEqual([0, 0, 60, 0]);
  expect(await countStates(cloud)).toEqual({ queued: 60, pending: 20 });
  cloud.ses.quota.maxSendRate = 100_000;
});
