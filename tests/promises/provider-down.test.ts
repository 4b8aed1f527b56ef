import { proveDelivery } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type LocalSes, startSes } from "../../packages/local/src/ses/index.ts";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { countStates, expectOneEmailEach, readRows } from "../support/ledger-rows.ts";
import { long } from "../support/long.ts";
import { minute, readEmailChannel, runWorker } from "../support/minute.ts";
import { depth, watchPublishes, watchWaits } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";

// A worker's pace is kept in real seconds, and the ledger's minutes pass in none: what the queue holds is what a paced
// worker sends in a minute.
vi.mock("../../packages/functions/src/deliver/pace.ts", () => ({
  Pace: class {
    take = async () => true;
  },
}));

/** Emails a second: what is owed after the hour takes several minutes. */
const rate = long ? 10 : 2;
const perMinute = rate * 60;

let cloud: Cloud;
let again: LocalSes | null = null;
beforeAll(async () => {
  cloud = await startCloud();
  cloud.ses.quota.maxSendRate = rate;
});
afterEach(() => cloud.reset());
afterAll(async () => {
  await again?.stop();
  await cloud.stop();
});

/** The provider fails; what is given mends it, and says whose mailbox is to be looked into. */
type Outage = () => Promise<() => Promise<LocalSes>>;

const unavailable: Outage = async () => {
  const mend = cloud.ses.faults.add(() => ({
    error: { status: 503, code: "ServiceUnavailable", message: "Service is unavailable." },
  }));
  return async () => {
    mend();
    return cloud.ses;
  };
};

const refusesConnections: Outage = async () => {
  const { port } = new URL(cloud.ses.endpoint);
  await cloud.ses.stop();
  return async () => {
    again = await startSes({ port: Number(port), quota: { maxSendRate: rate } });
    return again;
  };
};

test.each<[string, number, number, Outage]>([
  ["answers 503", 60, 200 * rate, unavailable],
  ["refuses connections", long ? 60 : 20, 100, refusesConnections],
])(
  "a provider that %s for %i minutes, with %i rows owed: the backlog waits in the ledger",
  {
    timeout: 120_000,
  },
  async (_, span, backlog, outage) => {
    const arriving = 5;
    let rows = backlog;
    await owe(cloud, backlog);
    const mend = await outage();
    const waits = watchWaits(cloud, "notification");
    const published = watchPublishes(cloud);
    const worker = runWorker(cloud);
    let minutesClosed = 0;
    for (let passed = 0; passed < span; passed += 1) {
      // Sooner than the two minutes that a message waits for its last receive: its receives are spent faster.
      await waits.pass();
      await owe(cloud, arriving);
      rows += arriving;
      await minute(cloud);
      await worker.drained();
      const { closed, inQueue } = await readEmailChannel(cloud);
      if (closed) {
        minutesClosed += 1;
        expect(closed.for).toBe("down");
      }
      // A few that met the provider before it was known to be down wait for their next receive.
      expect(inQueue).toBeLessThanOrEqual(20);
    }
    expect(minutesClosed).toBeGreaterThan((span * 5) / 6);
    expect(published.ids.length, "a queue full once, and then a few rows at a time").toBeLessThan(
      perMinute + 500,
    );
    expect(await countStates(cloud)).not.toHaveProperty("dead");

    const ses = await mend();
    /** By shipment: in which minute a fresh row came, and in which it got into the queue. */
    const cameAt = new Map<string, number>();
    const publishedAt = new Map<string, number>();
    let openSince: number | null = null;
    for (let now = 0; (await proveDelivery(cloud.ledger)).delivered < rows; now += 1) {
      expect(now, "minutes until all is delivered").toBeLessThan(20);
      await waits.pass();
      if (now < 8) {
        for (const shipment of await owe(cloud, arriving)) cameAt.set(shipment, now);
        rows += arriving;
      }
      const wasOpen = (await readEmailChannel(cloud)).closed === null;
      expect((await minute(cloud)).published).toBeLessThanOrEqual(perMinute);
      for (const { shipment_id, state } of await readRows(cloud))
        if (state !== "pending" && !publishedAt.has(shipment_id)) publishedAt.set(shipment_id, now);
      await worker.drained();
      if (wasOpen) openSince ??= now;
    }
    if (openSince === null) throw new Error("the breaker never closed again");
    const fresh = [...cameAt].filter(([, minute]) => minute >= (openSince ?? 0));
    expect(fresh.length, "some came while the backlog drained").toBeGreaterThan(0);
    for (const [shipment, minute] of fresh)
      expect((publishedAt.get(shipment) ?? Number.POSITIVE_INFINITY) - minute).toBeLessThanOrEqual(1);

    await expectOneEmailEach({ sql: cloud.sql, ses }, rows);
    expect(await proveDelivery(cloud.ledger)).toMatchObject({ dead: 0, unknown: 0, duplicates: 0 });
    // Only the calls before the breaker opened cost their rows an attempt.
    const retried = (await readRows(cloud)).filter((row) => row.attempts > 1);
    expect(retried.length).toBeLessThanOrEqual(20);
    expect(await depth(cloud, cloud.queues.notification.deadLetters.url)).toBe(0);
  },
);
