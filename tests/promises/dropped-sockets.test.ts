import { proveDelivery } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { SesFault } from "../../packages/local/src/ses/faults.ts";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { countStates, delivered, expectOneEmailEach, readRows } from "../support/ledger-rows.ts";
import { long } from "../support/long.ts";
import { minute, runWorker } from "../support/minute.ts";
import { depth } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";

/** Of these every tenth gets no answer, and of their resends every tenth again. */
const rows = long ? 1000 : 200;
const dropped = rows / 10;

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
  cloud.ses.quota.maxSendRate = 100_000;
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

/** A provider that accepts every email, and drops the socket of every tenth instead of answering. */
function dropEveryTenth(faultOf: (dropped: boolean, call: number) => SesFault): void {
  let calls = 0;
  cloud.ses.faults.add(() => {
    calls += 1;
    const dropped = calls % 10 === 0;
    return { ...faultOf(dropped, calls), ...(dropped ? { drop: "after" } : {}) };
  });
}

/** Time goes by, five minutes a beat, until every row is delivered; `most` minutes at most. */
async function untilDelivered(rows: number, most: number, drained: () => Promise<void>): Promise<void> {
  for (let minutes = 0; minutes < most; minutes += 5) {
    await minute(cloud, 5);
    await drained();
    if ((await proveDelivery(cloud.ledger)).delivered === rows) return;
  }
  throw new Error(`after ${most} minutes the rows are ${JSON.stringify(await countStates(cloud))}`);
}

/** By row: its emails in the mailbox beyond the first, and what the ledger counted of them. Only rows that have either. */
async function readDoubles(): Promise<{ id: string; extra: number; resent: number; duplicate: number }[]> {
  const emails = Map.groupBy(cloud.ses.sent, (email) => email.tags.notification);
  const counted = await cloud.sql<{ id: string; resent: number; duplicate: number }[]>`
    SELECT n.id, count(*) FILTER (WHERE kind = 'resent')::int AS resent, count(*) FILTER (WHERE kind = 'duplicate')::int AS duplicate
    FROM owed.notification n LEFT JOIN owed.attempt a ON a.notification_id = n.id GROUP BY n.id ORDER BY n.id`;
  return counted
    .map((row) => ({ ...row, extra: (emails.get(row.id)?.length ?? 0) - 1 }))
    .filter(({ extra, resent, duplicate }) => extra !== 0 || resent > 0 || duplicate > 0);
}

test(`feedback on: of ${rows} rows every one is delivered, by exactly one email`, {
  timeout: 120_000,
}, async () => {
  const evidence = Promise.withResolvers<void>();
  // Half of the events come at once, perhaps before the worker knows that its socket is gone; half of them later.
  dropEveryTenth((dropped, call) => (dropped && call % 20 === 0 ? { holdEvent: evidence.promise } : {}));
  const worker = runWorker(cloud);
  cloud.run("feedback");
  await owe(cloud, rows);
  await minute(cloud);
  await worker.drained();
  await delivered(cloud, rows - dropped / 2);
  expect(await countStates(cloud)).toEqual({ delivered: rows - dropped / 2, unknown: dropped / 2 });
  evidence.resolve();
  await delivered(cloud, rows);

  // Nobody resends what is proven, after the grace or at any other time.
  for (let passed = 0; passed < 60; passed += 10)
    expect(await minute(cloud, 10)).toMatchObject({ published: 0, resent: 0 });
  await expectOneEmailEach(cloud, rows);
  const proven = (await readRows(cloud)).filter((row) => row.evidence === "feedback");
  expect(proven.length, "those without an answer have no other evidence").toBeGreaterThanOrEqual(dropped);
  expect(await proveDelivery(cloud.ledger)).toMatchObject({ possibleDuplicates: 0, duplicates: 0, dead: 0 });
});

test(`feedback off: of ${rows} rows every one is delivered, and every double is counted as possible`, {
  timeout: 120_000,
}, async () => {
  dropEveryTenth(() => ({ noEvent: true }));
  const worker = runWorker(cloud);
  await owe(cloud, rows);
  await minute(cloud);
  await worker.drained();
  expect(await countStates(cloud)).toEqual({ delivered: rows - dropped, unknown: dropped });

  // A tenth of the resends is dropped as well, and resent after another grace.
  await untilDelivered(rows, 80, worker.drained);
  const doubles = await readDoubles();
  expect(doubles).toHaveLength(dropped);
  for (const { extra, resent, duplicate } of doubles)
    expect({ resent, duplicate }).toEqual({ resent: extra, duplicate: 0 });
  const extra = cloud.ses.sent.length - rows;
  expect(extra).toBe(dropped + Math.floor(dropped / 10) + Math.floor(dropped / 100));
  expect(await proveDelivery(cloud.ledger)).toMatchObject({
    ...{ unknown: dropped, possibleDuplicates: extra, duplicates: 0, dead: 0 },
  });
});

test("feedback after the grace: every double is counted as certain", async () => {
  const rows = 100;
  const evidence = Promise.withResolvers<void>();
  dropEveryTenth((dropped) => (dropped ? { holdEvent: evidence.promise } : {}));
  const worker = runWorker(cloud);
  cloud.run("feedback");
  await owe(cloud, rows);
  await minute(cloud);
  await worker.drained();
  await delivered(cloud, rows - 10);
  cloud.ses.faults.clear();
  await untilDelivered(rows, 30, worker.drained);
  evidence.resolve();
  await eventually(async () => expect((await proveDelivery(cloud.ledger)).duplicates).toBe(10));
  expect(cloud.ses.sent).toHaveLength(rows + 10);
  for (const { extra, resent, duplicate } of await readDoubles())
    expect({ extra, resent, duplicate }).toEqual({ extra: 1, resent: 1, duplicate: 1 });
  await cloud.bus.idle();
  await eventually(async () => expect(await depth(cloud, cloud.queues.feedback.url)).toBe(0));
  expect(await proveDelivery(cloud.ledger)).toMatchObject({ possibleDuplicates: 10, duplicates: 10 });
});
