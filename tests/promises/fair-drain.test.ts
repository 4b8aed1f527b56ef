import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { expectOneEmailEach } from "../support/ledger-rows.ts";
import { long } from "../support/long.ts";
import { minute, passMinutes, readEmailChannel, runWorker } from "../support/minute.ts";
import { owe } from "../support/shipment.ts";

// A worker's pace is kept in real seconds, and the ledger's minutes pass in none: what the queue holds is what a paced
// worker sends in a minute.
vi.mock("../../packages/functions/src/deliver/pace.ts", () => ({
  Pace: class {
    take = async () => true;
  },
}));

/** A second; the backlog and what arrives are as many times its size. */
const rate = long ? 10 : 2;
const perMinute = rate * 60;

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ settings: { limits: { email: { rate } } } });
});
afterAll(() => cloud.stop());

const readWaiting = async (): Promise<Map<string, string>> => {
  const rows = await cloud.sql<{ id: string; shipment: string }[]>`
    SELECT n.id, e.shipment_id AS shipment FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
    WHERE n.state <> 'delivered'`;
  return new Map(rows.map(({ id, shipment }) => [id, shipment]));
};

test(`${300 * rate} rows older than ten minutes drain at the channel's rate, and no fresh row waits for them`, {
  timeout: 120_000,
}, async () => {
  const backlog = 300 * rate;
  /** Fresh rows by minute; those of the third are more than the fresh rows' share. */
  const arriving = [4, 4, 40, 4, 4, 4].map((part) => part * rate);
  cloud.ses.faults.add(() => ({ noEvent: true }));
  await owe(cloud, backlog);
  await passMinutes(cloud.sql, 11);
  const worker = runWorker(cloud);

  const cameAt = new Map<string, number>();
  /** What the channel told as its time to drain, by minute, and of which rows it was. */
  let told: { minute: number; seconds: number; rows: string[] }[] = [];
  const errors: number[] = [];
  for (let now = 0; ; now += 1) {
    expect(now, "minutes").toBeLessThan(10);
    await passMinutes(cloud.sql, 0.5);
    for (const shipment of await owe(cloud, arriving[now] ?? 0)) cameAt.set(shipment, now);
    const before = await readWaiting();
    if (before.size === 0) break;

    const { published, owed, timeToDrain } = await minute(cloud, 0.5);
    expect(published, "as much as the provider takes in a minute").toBe(Math.min(perMinute, before.size));
    expect(owed).toBe(before.size - published);
    // What the worker has sent before the sweep looked is not counted any more.
    expect(timeToDrain).toBeLessThanOrEqual(before.size / rate);
    expect(timeToDrain).toBeGreaterThanOrEqual(owed / rate);
    told.push({ minute: now, seconds: timeToDrain ?? 0, rows: [...before.keys()] });
    // A consumer that takes what it likes: a queue that is empty before the next beat never held more than this.
    await worker.drained();

    const waiting = await readWaiting();
    const late = [...waiting.values()].filter((shipment) => (cameAt.get(shipment) ?? now) < now);
    expect(late, "came a minute before, and wait").toEqual([]);
    told = told.filter(({ minute, seconds, rows }) => {
      if (rows.some((id) => waiting.has(id))) return true;
      errors.push(seconds / ((now - minute) * 60 + published / rate));
      return false;
    });
  }
  expect(errors.length).toBeGreaterThanOrEqual(5);
  for (const error of errors) {
    expect(error).toBeGreaterThan(1 / 1.5);
    expect(error).toBeLessThan(1.5);
  }
  const { timeToDrain, due, inQueue } = await readEmailChannel(cloud);
  expect({ timeToDrain, due, inQueue }).toEqual({ timeToDrain: 0, due: 0, inQueue: 0 });
  await expectOneEmailEach(cloud, backlog + arriving.reduce((sum, rows) => sum + rows, 0));
});
