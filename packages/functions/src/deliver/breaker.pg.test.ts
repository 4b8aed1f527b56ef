import type { SendResult } from "@owed/channel";
import { defaultDurations as durations, markQueued } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { owe } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import {
  accepted,
  always,
  refused,
  scriptedChannel,
  slowDown,
  transient,
  unknown,
} from "../testing/channel.ts";
import { openBreaker, opened, probes, readChannel, setRate } from "../testing/channels.ts";
import { give, handOver } from "../testing/deliveries.ts";
import { acknowledged, comesAgainIn } from "../testing/disposals.ts";
import {
  countStates,
  empty,
  idsOf,
  leaseAll,
  messageFor,
  oweAndQueue,
  oweOneAndQueue,
  readRow,
  readRows,
  readTries,
} from "../testing/rows.ts";
import { countStatements } from "../testing/statements.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

describe("a provider that is down", () => {
  test("after four failures in a row its channel is closed; from then on no row's receives pay for it", async () => {
    const rows = await oweAndQueue(database, 6);
    const { counts, disposals, onError } = await give(database, rows, {
      channel: always(transient),
      message: { receives: 4 },
    });
    expect(counts).toEqual({ claimed: 6, transient: 6, closed: 1 });
    expect(disposals).toEqual([...Array(3).fill(comesAgainIn(120)), ...Array(3).fill(acknowledged)]);
    expect(await countStates(database)).toEqual({ queued: 3, pending: 3 });
    for (const row of (await readRows(database, idsOf(rows))).slice(3))
      expect(row).toMatchObject({ state: "pending", attempts: 0, generation: 1 });
    expect(await readChannel(database)).toMatchObject({
      failures: 6,
      openings: 1,
      closed_for: "down",
      closed_why: transient.outcome === "transient" ? transient.reason : "",
      opens_in: 30,
    });
    expect(onError).toHaveBeenCalledExactlyOnceWith("the channel email is closed: down", null);
  });

  test("what it answers about single messages is theirs: the channel stays open, and they spend their receives", async () => {
    const bad: SendResult = { outcome: "transient", reason: "TenantPaused: not now", answered: true };
    for (const receives of [1, 2, 3, 4]) {
      await give(database, await oweAndQueue(database, 6), { channel: always(bad), message: { receives } });
      expect(await readChannel(database)).toMatchObject(opened);
    }
    const row = await oweOneAndQueue(database);
    await give(database, [row], { channel: always(bad), message: { receives: 5 } });
    expect(await readRow(database, row.id)).toMatchObject({ state: "dead", reason: "TenantPaused: not now" });
  });

  test("a message that we refuse ourselves says nothing of it: the failures go on", async () => {
    const ours: SendResult = { outcome: "refused", reason: "InvalidAddress: has a space", answered: false };
    const rows = await oweAndQueue(database, 5);
    const channel = scriptedChannel((_request, call) => (call === 1 ? ours : transient));
    const { counts } = await give(database, rows, { channel });
    expect(counts).toMatchObject({ refused: 1, transient: 4, closed: 1 });
    expect(await readChannel(database)).toMatchObject({ failures: 4, closed_for: "down" });
    await passTime(database.sql, 31);
    await give(database, [await oweOneAndQueue(database)], { channel: always(ours) });
    expect(await probes(database)).toBe(true);
  });

  test("whoever waits for a turn is not called any more", async () => {
    await setRate(database, 4);
    const rows = await oweAndQueue(database, 10);
    const { counts } = await give(database, rows, { channel: always(transient) });
    expect(counts).toEqual({ claimed: 10, transient: 4, notCalled: 6, closed: 1 });
    expect(await countStates(database)).toEqual({ queued: 3, pending: 7 });
  });

  test.each<[string, SendResult]>([
    ["no connection", transient],
    ["no answer", unknown],
    ["a rate that is never kept to", slowDown],
  ])("the failures count from batch to batch: %s", async (_, result) => {
    for (const failures of [1, 2, 3]) {
      await give(database, [await oweOneAndQueue(database)], { channel: always(result) });
      expect(await readChannel(database)).toMatchObject({ failures, openings: 0, closed_for: null });
    }
    await give(database, [await oweOneAndQueue(database)], { channel: always(result) });
    expect(await readChannel(database)).toMatchObject({ failures: 4, openings: 1, closed_for: "down" });
  });

  test("while it is closed what the queue has goes back to the ledger, without a call, and is owed when it opens", async () => {
    const rows = await oweAndQueue(database, 3);
    await openBreaker(database);
    const { channel, counts, disposals } = await give(database, rows);
    expect([channel.calls, counts]).toEqual([[], { deferred: 3 }]);
    expect(disposals).toEqual(Array(3).fill(acknowledged));
    for (const row of await readRows(database, idsOf(rows)))
      expect(row).toMatchObject({ state: "pending", attempts: 0, generation: 1 });
    expect(await leaseAll(database)).toEqual([]);
    await passTime(database.sql, 31);
    expect(idsOf(await leaseAll(database)).toSorted()).toEqual(idsOf(rows).toSorted());
  });

  test("a probe that is answered opens it for good", async () => {
    await openBreaker(database);
    await passTime(database.sql, 31);
    await give(database, [await oweOneAndQueue(database)]);
    expect(await readChannel(database)).toMatchObject(opened);
    expect(await probes(database)).toBe(false);
  });

  test("one that is refused too: the provider works", async () => {
    await openBreaker(database);
    await passTime(database.sql, 31);
    await give(database, [await oweOneAndQueue(database)], { channel: always(refused) });
    expect(await readChannel(database)).toMatchObject(opened);
  });

  test("a probe that fails closes it for twice as long each time, two minutes at most, and costs no row its life", async () => {
    await openBreaker(database);
    const waits: unknown[] = [];
    for (let round = 0; round < 4; round += 1) {
      await passTime(database.sql, 601);
      const row = await oweOneAndQueue(database);
      const { disposals } = await give(database, [row], {
        channel: always(transient),
        message: { receives: 5 },
      });
      expect(disposals).toEqual([acknowledged]);
      expect(await readRow(database, row.id)).toMatchObject({ state: "pending", attempts: 0 });
      expect(await probes(database)).toBe(true);
      waits.push((await readChannel(database)).opens_in);
    }
    expect(waits).toEqual([60, 120, 120, 120]);
  });

  test("for half an hour: nothing is dead, no attempts pile up, and all is delivered afterwards", async () => {
    await owe(database, 20);
    const channel = scriptedChannel((_request, call) => (down ? transient : accepted(`P-${call}`)));
    let down = true;
    /** A beat's worth of work: what waits in the queue comes again, and what is owed is queued. */
    const receives = new Map<string, number>();
    const beat = async () => {
      const queued = await database.sql<{ id: string; generation: number; group: string }[]>`
        SELECT id, generation, subscriber_id::text AS group FROM owed.notification WHERE state = 'queued'`;
      const leased = await leaseAll(database);
      await markQueued(database.ledger, durations, leased);
      const messages = [...queued, ...leased].map((row) => {
        const messageId = `${row.id}.${row.generation}`;
        const times = (receives.get(messageId) ?? 0) + 1;
        receives.set(messageId, times);
        return messageFor(row, { messageId, receives: times });
      });
      for (let from = 0; from < messages.length; from += 10)
        await handOver(database.ledger, messages.slice(from, from + 10), { channel });
      await passTime(database.sql, 60);
    };
    for (let minute = 0; minute < 30; minute += 1) await beat();
    expect((await countStates(database)).dead).toBeUndefined();
    // Three failures before the breaker opened, and a probe each time that it had waited.
    expect(Math.max(...receives.values())).toBeLessThan(5);
    down = false;
    await passTime(database.sql, 600);
    for (let minute = 0; minute < 3; minute += 1) await beat();
    expect(await countStates(database)).toEqual({ delivered: 20 });
    const [most] = await database.sql`SELECT max(attempts) AS attempts FROM owed.notification`;
    expect(most?.attempts).toBeLessThanOrEqual(3);
    expect(await readChannel(database)).toMatchObject(opened);
  });
});

describe("a provider that works", () => {
  test.each<[string, SendResult]>([
    ["is silent", { outcome: "unknown", reason: "TimedOut: no answer", answered: true }],
    ["is down", { outcome: "transient", reason: "ECONNREFUSED: not written", answered: true }],
    [
      "asks to wait",
      { outcome: "throttled", reason: "TooMany: 429", retryAfterSeconds: 600, scope: "recipient" },
    ],
  ])("one receiver of its own that %s closes the channel for nobody", async (_, result) => {
    const rows = await oweAndQueue(database, 8);
    await give(database, rows, { channel: always(result) });
    expect(await readChannel(database)).toMatchObject(opened);
  });

  test("one answer to a probe, and a row that fails beside it pays for that with its own receives again", async () => {
    await openBreaker(database);
    await passTime(database.sql, 31);
    const [good, bad] = await oweAndQueue(database, 2);
    const answered = Promise.withResolvers<undefined>();
    const channel = scriptedChannel(async ({ notificationId }) => {
      if (notificationId === good?.id) {
        setImmediate(() => answered.resolve(undefined));
        return undefined;
      }
      await answered.promise;
      return transient;
    });
    const rows = [good, bad].flatMap((row) => row ?? []);
    const { disposals } = await give(database, rows, { channel });
    expect(disposals).toEqual([acknowledged, comesAgainIn(5)]);
    expect(await readChannel(database)).toMatchObject(opened);
  });

  test.each<[string, SendResult]>([
    ["accepts", accepted("P-1")],
    ["refuses", refused],
  ])("answers between failures keep its channel open: it %s", async (_, answer) => {
    for (let round = 0; round < 4; round += 1) {
      for (const result of [transient, transient, transient, answer])
        await give(database, [await oweOneAndQueue(database)], { channel: always(result) });
      expect(await readChannel(database)).toMatchObject(opened);
    }
  });

  test("one answer among nine failures of a batch is enough", async () => {
    const rows = await oweAndQueue(database, 10);
    const works = rows[0]?.id;
    const channel = scriptedChannel(({ notificationId }) =>
      notificationId === works ? undefined : transient,
    );
    await give(database, rows, { channel });
    expect(await readChannel(database)).toMatchObject(opened);
  });

  test("a poison row among healthy traffic is exhausted after five receives, and the channel stays open", async () => {
    const poison = await oweOneAndQueue(database);
    const channel = scriptedChannel(({ notificationId }) =>
      notificationId === poison.id ? transient : undefined,
    );
    const seen: unknown[] = [];
    for (const receives of [1, 2, 3, 4, 5]) {
      const healthy = await oweAndQueue(database, 3);
      const messages = [
        messageFor(poison, { messageId: "poison", receives }),
        ...healthy.map((row) => messageFor(row)),
      ];
      const { disposals } = await handOver(database.ledger, messages, { channel });
      seen.push(disposals[0]);
      expect(disposals.slice(1)).toEqual(Array(3).fill(acknowledged));
      expect(await readChannel(database)).toMatchObject(opened);
    }
    expect(seen).toEqual([5, 20, 60, 120, 0].map(comesAgainIn));
    expect(await readRow(database, poison.id)).toMatchObject({ state: "dead", attempts: 5 });
    expect((await readTries(database, poison.id)).at(-1)).toBe("exhausted");
  });

  test("a clean batch of ten writes nothing about its channel: two statements, 0.20 a row", async () => {
    const batch = async (result?: SendResult) => {
      const rows = await oweAndQueue(database, 10);
      const channel = scriptedChannel(({ notificationId }) =>
        notificationId === rows[0]?.id ? result : undefined,
      );
      const records = rows.map((row) => messageFor(row));
      return countStatements(database, () => handOver(database.ledger, records, { channel }));
    };
    expect(await batch()).toBe(2);
    // One that failed, among others that did not, is recorded by itself, and is nothing to tell.
    expect(await batch(transient)).toBe(3);
    await give(database, [await oweOneAndQueue(database)], { channel: always(transient) });
    // The first answer after failures is told, once.
    expect(await batch()).toBe(3);
    expect(await batch()).toBe(2);
  });
});
