import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { SqsFault } from "../../packages/local/src/sqs/index.ts";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { countStates, delivered, expectOneEmailEach, readRows } from "../support/ledger-rows.ts";
import { depth, watchPublishes } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ visibility: 2 });
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

const unavailable = { status: 503, code: "ServiceUnavailable", message: "Service is unavailable." };
const throttled = { status: 400, code: "RequestThrottled", message: "Rate exceeded." };

/** Some calls of an action go wrong, each in the next of the ways given. */
function trouble(action: string, ways: readonly (SqsFault | undefined)[]): () => void {
  let calls = 0;
  return cloud.sqs.faults.add((call) => {
    if (call.action !== action || call.queueName !== "notification.fifo") return undefined;
    calls += 1;
    return ways[calls % ways.length];
  });
}

test.each([
  ["throttled: certainly refused, and owed again within a minute", throttled, "failed", "pending", 61],
  ["unavailable: perhaps taken, and owed when the leases have passed", unavailable, "unsure", "leased", 121],
] as const)("while every call is %s", async (_, error, counted, state, seconds) => {
  const rows = 40;
  await owe(cloud, rows);
  const mend = trouble("SendMessageBatch", [{ error }]);
  expect(await cloud.sweep()).toMatchObject({ leased: rows, published: 0, [counted]: rows });
  expect(await countStates(cloud)).toEqual({ [state]: rows });
  mend();
  await passTime(cloud.sql, seconds);
  expect(await cloud.sweep()).toMatchObject({ published: rows });
  cloud.run("deliver");
  await delivered(cloud, rows);
  await expectOneEmailEach(cloud, rows);
});

test("a call that is answered too late was taken all the same, and is not taken twice", async () => {
  const rows = 10;
  await owe(cloud, rows);
  let calls = 0;
  cloud.sqs.faults.add(({ action }) => {
    if (action !== "SendMessageBatch") return undefined;
    calls += 1;
    // The sweep's client waits for five seconds.
    return calls === 1 ? { hold: new Promise(() => {}) } : undefined;
  });
  const published = watchPublishes(cloud);
  expect(await cloud.sweep()).toMatchObject({ published: rows, unsure: 0 });
  expect(calls).toBe(2);
  expect(published.ids).toHaveLength(2 * rows);
  expect(await depth(cloud, cloud.queues.notification.url)).toBe(rows);
});

test("errors, lost connections and lost answers on every call: each row is still sent once", async () => {
  const rows = 60;
  const failing: SqsFault[] = [
    { error: unavailable },
    { drop: "before" },
    { drop: "after" },
    { error: throttled },
  ];
  const mends = [
    "SendMessageBatch",
    "ReceiveMessage",
    "DeleteMessageBatch",
    "ChangeMessageVisibilityBatch",
  ].map(
    // One of five calls goes well.
    (action) => trouble(action, [...failing, undefined]),
  );
  await owe(cloud, rows);
  cloud.run("deliver");
  for (let beat = 0; beat < 3; beat += 1) {
    await cloud.sweep();
    await passTime(cloud.sql, 121);
  }
  for (const mend of mends) mend();
  await cloud.sweep();
  await delivered(cloud, rows);
  await eventually(async () => expect(await depth(cloud, cloud.queues.notification.url)).toBe(0));
  await expectOneEmailEach(cloud, rows);
  expect((await readRows(cloud)).every((row) => row.generation === 0 && row.attempts === 1)).toBe(true);
});
