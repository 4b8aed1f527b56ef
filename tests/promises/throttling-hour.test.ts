import { proveDelivery } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { expectOneEmailEach, readRows } from "../support/ledger-rows.ts";
import { long } from "../support/long.ts";
import { minute, readEmailChannel, runWorker, type Worker } from "../support/minute.ts";
import { depth, watchPublishes } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";

/** More than a sweep leases at a time. */
const backlog = long ? 5000 : 600;

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ settings: { sweep: { slice: backlog / 5 } } });
});
beforeEach(() => {
  // All that is owed gets into the queue at once: the worst case.
  Object.assign(cloud.ses.quota, { maxSendRate: 100_000, max24HourSend: 50_000, enforced: false });
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

/** Minutes go by until nothing is owed any more. Returns how many. */
async function drain(worker: Worker, rows: number): Promise<number> {
  for (let minutes = 1; minutes <= 30; minutes += 1) {
    await minute(cloud);
    await worker.drained();
    if ((await proveDelivery(cloud.ledger)).delivered === rows) return minutes;
  }
  throw new Error("not everything was delivered within half an hour");
}

/** Every row is delivered by one email and one counted attempt, nothing was in doubt, and nothing died. */
async function expectNoTrace(rows: number): Promise<void> {
  await expectOneEmailEach(cloud, rows);
  expect(
    (await readRows(cloud)).filter((row) => row.attempts !== 1 || row.resends + row.rescues > 0),
  ).toEqual([]);
  expect(await proveDelivery(cloud.ledger)).toEqual({
    ...{ rows, delivered: rows, cancelled: 0, dead: 0, unfinished: 0 },
    ...{ unknown: 0, possibleDuplicates: 0, duplicates: 0 },
  });
  const { url, deadLetters } = cloud.queues.notification;
  expect(await depth(cloud, url)).toBe(0);
  expect(await depth(cloud, deadLetters.url)).toBe(0);
}

/** Calls that an hour may cost: a batch of each worker until the channel is closed, and then ten for each probe. */
const most = 500;

const throttling = { status: 400, code: "Throttling", message: "Maximum sending rate exceeded." };
const retryAfter = { ...throttling, headers: { "retry-after": "120" } };
const tooMany = { ...throttling, status: 429, code: "TooManyRequestsException" };

test.each([
  // The longest that a breaker stays open, a probe, and the rest.
  { rows: backlog, how: "", span: 60, answer: throttling, minutes: 12 },
  { rows: 300, how: ", each time for two of them", span: long ? 60 : 20, answer: retryAfter, minutes: 5 },
  { rows: 300, how: " by HTTP's 429", span: long ? 60 : 20, answer: tooMany, minutes: 12 },
])(
  "a provider that throttles for $span minutes$how: $rows rows are delivered once, at no attempt's cost",
  {
    timeout: 180_000,
  },
  async ({ rows, span, answer, minutes }) => {
    await owe(cloud, rows);
    let calls = 0;
    const mend = cloud.ses.faults.add(() => {
      calls += 1;
      return { error: answer };
    });
    const published = watchPublishes(cloud);
    const worker = runWorker(cloud);
    let minutesClosed = 0;
    for (let passed = 0; passed < span; passed += 1) {
      await minute(cloud);
      await worker.drained();
      const { closed } = await readEmailChannel(cloud);
      if (closed) minutesClosed += 1;
      expect(calls, "calls meanwhile").toBeLessThan(most);
    }
    expect(cloud.ses.sent).toEqual([]);
    expect(minutesClosed, "the channel is closed").toBeGreaterThan((span * 5) / 6);
    expect(calls, "calls meanwhile").toBeGreaterThan(0);
    expect(published.ids.length, "the backlog once, and then a few rows at a time").toBeLessThan(rows + most);

    mend();
    cloud.ses.faults.add(() => ({ noEvent: true }));
    expect(await drain(worker, rows)).toBeLessThanOrEqual(minutes);
    await expectNoTrace(rows);
  },
);

test("a daily quota that is used up closes the channel, and nothing is published until there is some again", async () => {
  const { quota } = cloud.ses;
  const before = quota.max24HourSend;
  const rows = 40;
  await owe(cloud, rows);
  const published = watchPublishes(cloud);
  const worker = runWorker(cloud);
  quota.max24HourSend = quota.sentLast24Hours();
  for (let passed = 0; passed < 20; passed += 1) {
    await minute(cloud);
    const { closed, due } = await readEmailChannel(cloud);
    expect({ for: closed?.for, due }).toEqual({ for: "quota", due: rows });
    expect(closed?.why).toMatch(/^\d+ of \d+ messages were sent in 24 hours$/);
  }
  expect(published.ids).toEqual([]);

  quota.max24HourSend = before;
  // The limits are read every five minutes.
  expect(await drain(worker, rows)).toBeLessThanOrEqual(6);
  expect((await readEmailChannel(cloud)).closed).toBeNull();
  expect(published.ids).toHaveLength(rows);
  await expectNoTrace(rows);
});

test("of a quota that is nearly used up no more is published than is left, and the provider throttles nobody", async () => {
  const { quota } = cloud.ses;
  const before = quota.max24HourSend;
  const [rows, left] = [60, 25];
  await owe(cloud, rows);
  const worker = runWorker(cloud);
  quota.max24HourSend = quota.sentLast24Hours() + left;
  quota.enforced = true;
  const published = watchPublishes(cloud);
  for (let passed = 0; passed < 10; passed += 1) {
    await minute(cloud);
    await worker.drained();
  }
  expect(published.ids).toHaveLength(left);
  expect(await readEmailChannel(cloud)).toMatchObject({ due: rows - left, closed: { for: "quota" } });
  expect(cloud.ses.sent).toHaveLength(left);

  quota.max24HourSend = before;
  quota.enforced = false;
  expect(await drain(worker, rows)).toBeLessThanOrEqual(6);
  await expectNoTrace(rows);
});
