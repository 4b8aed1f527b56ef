import { proveDelivery } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { countAttempts, expectOneEmailEach, readRows } from "../support/ledger-rows.ts";
import { long } from "../support/long.ts";
import { minute, readEmailChannel, runWorker } from "../support/minute.ts";
import { depth, watchPublishes } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";

// A worker's pace is kept in real seconds, and the ledger's minutes pass in none: what the queue holds is what a paced
// worker sends in a minute.
vi.mock("../../packages/functions/src/deliver/pace.ts", () => ({
  Pace: class {
    take = async () => true;
  },
}));

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ settings: { sweep: { slice: long ? 1000 : 200 } } });
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

/** Minutes between two beats, so that hours are affordable. */
const every = long ? 5 : 10;

test.each([
  { hours: 6, rate: 1000, atStart: long ? 1500 : 300, arriving: 10, most: 60_000 },
  { hours: long ? 6 : 2, rate: 5, atStart: 400, arriving: 5, most: 300 },
])(
  "a consumer down for $hours hours, at $rate a second: at most one message a row, $most in the queue",
  {
    timeout: 120_000,
  },
  async ({ hours, rate, atStart, arriving, most }) => {
    cloud.ses.quota.maxSendRate = rate;
    cloud.ses.faults.add(() => ({ noEvent: true }));
    const published = watchPublishes(cloud);
    const queueUrl = cloud.queues.notification.url;
    let rows = atStart;
    await owe(cloud, atStart);
    for (let passed = 0; passed < hours * 60; passed += every) {
      if (passed % 10 === 0 && passed > 0) {
        rows += arriving;
        await owe(cloud, arriving);
      }
      expect(await minute(cloud, every)).toMatchObject({ rescued: 0, lost: 0, unknown: 0, failed: 0 });
      if (passed % 10 === 0) {
        const inQueue = Math.min(rows, most);
        expect(await depth(cloud, queueUrl)).toBe(inQueue);
        expect(await readEmailChannel(cloud)).toMatchObject({ inQueue, due: rows - inQueue, closed: null });
      }
    }
    expect(new Set(published.ids).size, "no row has a second message").toBe(published.ids.length);
    expect(published.ids).toHaveLength(Math.min(rows, most));

    const worker = runWorker(cloud);
    await worker.drained();
    while ((await proveDelivery(cloud.ledger)).delivered < rows) {
      const summary = await minute(cloud);
      expect(summary).toMatchObject({ rescued: 0, published: Math.min(most, summary.leased) });
      expect(summary.published, "nothing is left that nobody publishes").toBeGreaterThan(0);
      await worker.drained();
    }
    expect(published.ids).toHaveLength(rows);
    expect(new Set(published.ids).size).toBe(rows);
    await expectOneEmailEach(cloud, rows);
    expect((await readRows(cloud)).every((row) => row.generation === 0 && row.attempts === 1)).toBe(true);
    expect(await countAttempts(cloud)).toEqual({});
    expect(await depth(cloud, cloud.queues.notification.deadLetters.url)).toBe(0);
  },
);
