import { sweep } from "@owed/functions/run-sweep";
import { parseSettings } from "@owed/functions/settings";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { countStates, readRows } from "../support/ledger-rows.ts";
import { long } from "../support/long.ts";
import { depth, watchPublishes } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";

/** Rows that a sweep leases at a time. */
const slice = long ? 1000 : 200;

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ settings: { sweep: { slice } } });
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

/** How often statements that change notifications were run since the last look. */
async function writesToLedger(): Promise<{ lease: number; mark: number; other: number }> {
  const rows = await cloud.sql<{ query: string; calls: number }[]>`
    SELECT query, calls::int FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
    WHERE d.datname = current_database() AND query LIKE '%UPDATE owed.notification%'`;
  await cloud.sql`
    SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()`;
  const calls = (part: RegExp) =>
    rows.filter(({ query }) => part.test(query)).reduce((sum, row) => sum + row.calls, 0);
  const lease = calls(/SKIP LOCKED/);
  const mark = calls(/SET\s+state = \S+, queued_at = now\(\)/);
  return { lease, mark, other: calls(/./) - lease - mark };
}

test("a backlog is drained in one sweep: tens to SQS, and one statement a slice", async () => {
  await cloud.sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`;
  const rows = 3.5 * slice;
  await owe(cloud, rows);
  await writesToLedger();
  const published = watchPublishes(cloud);

  expect(await cloud.sweep()).toMatchObject({ leased: rows, published: rows, slices: 4, owed: 0, fenced: 0 });

  expect(published.batches).toEqual(Array.from({ length: rows / 10 }, () => 10));
  expect(new Set(published.ids).size).toBe(rows);
  expect(await countStates(cloud)).toEqual({ queued: rows });
  // One or two leases more, which find nothing.
  const { lease, mark, other } = await writesToLedger();
  expect({ mark, other }).toEqual({ mark: 4, other: 0 });
  expect(lease).toBeGreaterThanOrEqual(5);
  expect(lease).toBeLessThanOrEqual(6);
});

test("a sweep whose time ends gives back what it did not publish, and the next one goes on", async () => {
  const rows = 600;
  await owe(cloud, rows);
  const published = watchPublishes(cloud);
  const slow = cloud.sqs.faults.add(({ action }) =>
    action === "SendMessageBatch" ? { delay: 600 } : undefined,
  );
  const { notification, feedback } = cloud.queues;
  const settings = parseSettings({ sweep: { budget: 2, slice: 200, lanes: 2 } });
  const summary = await sweep({
    ledger: cloud.ledger,
    sqs: cloud.client,
    notificationQueueUrl: notification.url,
    feedbackQueueUrl: feedback.url,
    settings,
    limits: new Map(),
    remaining: () => 60,
  });
  if (!summary.swept) throw new Error("the heartbeat was free");
  expect(summary.published).toBeGreaterThan(0);
  expect(summary.published).toBeLessThan(200);
  expect(summary).toMatchObject({ failed: 0, unsure: 0, owed: rows - summary.published });
  expect(await countStates(cloud)).toEqual({ queued: summary.published, pending: rows - summary.published });
  slow();

  expect(await cloud.sweep()).toMatchObject({ published: rows - summary.published, owed: 0 });
  expect(published.ids.toSorted()).toEqual(
    (await readRows(cloud)).map(({ id }) => `shipment-notif-${id}`).toSorted(),
  );
  expect(await depth(cloud, notification.url)).toBe(rows);
});
