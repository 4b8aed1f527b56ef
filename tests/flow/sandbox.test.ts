import { defaultDurations, readChannels, readStatus } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../../packages/console/src/context.ts";
import { type Demo, startDemo } from "../../packages/local/src/demo.ts";
import { createSandbox } from "../../packages/local/src/sandbox.ts";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { depth } from "../support/queue.ts";

let cloud: Cloud;
let demo: Demo;
let sandbox: Sandbox;
beforeAll(async () => {
  cloud = await startCloud({ visibility: 2, settings: { channel: { breaker: 2, breakerMost: 2 } } });
  cloud.run("ingest");
  demo = await startDemo({
    ...{ ledger: cloud.ledger, bus: cloud.bus, inboxOf: cloud.webhooks.addressOf },
    // Nothing but what the sandbox lets happen, once the first has.
    ...{ every: 3600, followUp: 3600 },
  });
  await eventually(async () => expect(await countEvents()).toBe(1));
  const beat = async () => void (await cloud.sweep());
  sandbox = createSandbox({ ...cloud, schedule: { trigger: beat } }, demo);
});
afterEach(() => sandbox.provider.start());
afterAll(async () => {
  await demo.stop();
  await cloud.stop();
});

const countEvents = async (): Promise<number> => {
  const [row] = await cloud.sql<{ count: number }[]>`SELECT count(*)::int FROM owed.event`;
  return row?.count ?? 0;
};

/** Where each shipment is by its newest event; null before the first. */
const statuses = async () => {
  const rows = await cloud.sql<{ id: string; status: string | null }[]>`SELECT id, status FROM owed.shipment`;
  return new Map(rows.map(({ id, status }) => [id, status]));
};

test("exactly so many events happen, each to another shipment, and new ones are registered where there are too few", async () => {
  for (const events of [1, 20, 60]) {
    const [before, count] = [await statuses(), await countEvents()];
    await sandbox.happen(events);
    await eventually(async () => expect(await countEvents()).toBe(count + events));
    const changed = [...(await statuses())].filter(([id, status]) => status !== (before.get(id) ?? null));
    expect(changed).toHaveLength(events);
  }
});

test("a purged queue has nothing left, and the ledger still knows what it had", async () => {
  await sandbox.sweep();
  const { queued } = (await readStatus(cloud.ledger)).states;
  expect(queued).toBeGreaterThan(0);
  expect(await depth(cloud, cloud.queues.notification.url)).toBe(queued);
  await sandbox.purgeQueue();
  expect(await depth(cloud, cloud.queues.notification.url)).toBe(0);
  expect((await readStatus(cloud.ledger)).states.queued).toBe(queued);
});

test("a stopped provider takes nothing, its channels close, and all of it is sent when it works again", async () => {
  await sandbox.happen(20);
  await cloud.bus.idle();
  sandbox.provider.stop();
  sandbox.provider.stop();
  expect(sandbox.provider.stopped).toBe(true);
  cloud.run("deliver");
  cloud.run("feedback");
  await sandbox.sweep();
  await eventually(async () => {
    const channels = await readChannels(cloud.ledger, defaultDurations);
    expect(channels.find(({ name }) => name === "email")?.failures).toBeGreaterThan(0);
  });
  expect((await readStatus(cloud.ledger)).states.delivered).toBe(0);
  sandbox.provider.start();
  expect(sandbox.provider.stopped).toBe(false);
  await eventually(async () => {
    await sandbox.sweep();
    const { states, owed } = await readStatus(cloud.ledger);
    expect([owed, states.dead]).toEqual([0, 0]);
    expect(states.delivered).toBeGreaterThan(20);
  }, 50);
});
