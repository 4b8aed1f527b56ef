import { sweep } from "@owed/functions/run-sweep";
import { parseSettings } from "@owed/functions/settings";
import { createSqsClient } from "@owed/functions/sqs";
import { Ledger } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Swept } from "../../packages/local/src/stack.ts";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { countStates, readRows } from "../support/ledger-rows.ts";
import { long } from "../support/long.ts";
import { depth, watchPublishes } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

/** What is published is in the queue, but its sweeps wait for SQS's answer until the test lets them go on. */
function holdPublishes(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  cloud.sqs.faults.add(({ action }) => (action === "SendMessageBatch" ? { hold: promise } : undefined));
  return resolve;
}

test("of five sweeps at once one takes the heartbeat, the others leave it to that one", async () => {
  await owe(cloud, 20);
  const letItPublish = holdPublishes();
  const answers: Swept[] = [];
  const sweeps = Array.from({ length: 5 }, async () => answers.push(await cloud.sweep()));
  await eventually(() => expect(answers).toHaveLength(4));
  expect(answers).toEqual(Array(4).fill({ swept: false, why: "held" }));
  letItPublish();
  await Promise.all(sweeps);
  expect(answers[4]).toMatchObject({ swept: true, leased: 20, published: 20 });
});

const many = long ? 3000 : 1200;

test(`five sweeps that do overlap publish each of ${many} rows once`, async () => {
  const rows = many;
  await owe(cloud, rows);
  const published = watchPublishes(cloud);
  const letThemPublish = holdPublishes();
  const { url: notificationQueueUrl } = cloud.queues.notification;
  const { url: feedbackQueueUrl } = cloud.queues.feedback;
  const settings = parseSettings({ sweep: { slice: 100 } });
  const begin = () => {
    const ledger = new Ledger(cloud.options);
    const sqs = createSqsClient(16);
    return sweep({
      ledger,
      sqs,
      notificationQueueUrl,
      feedbackQueueUrl,
      settings,
      limits: new Map(),
      remaining: () => 60,
    }).finally(async () => {
      sqs.destroy();
      await ledger.close();
    });
  };
  const sweeps: ReturnType<typeof begin>[] = [];
  for (let count = 1; count <= 5; count += 1) {
    sweeps.push(begin());
    // Each holds leased rows before the next begins, which finds the heartbeat free: its holder seems to be gone.
    await eventually(async () => expect(await countStates(cloud)).toMatchObject({ leased: 200 * count }));
    await cloud.sql`UPDATE owed.heartbeat SET held_until = now()`;
  }
  letThemPublish();
  const answers = await Promise.all(sweeps);

  const ids = (await readRows(cloud)).map(({ id }) => `shipment-notif-${id}`);
  expect(published.ids.toSorted()).toEqual(ids.toSorted());
  expect(answers.every((answer) => answer.swept && answer.leased >= 200)).toBe(true);
  expect(answers.reduce((sum, answer) => sum + (answer.swept ? answer.published : 0), 0)).toBe(rows);
  expect(await countStates(cloud)).toEqual({ queued: rows });
  expect(await depth(cloud, notificationQueueUrl)).toBe(rows);
});
