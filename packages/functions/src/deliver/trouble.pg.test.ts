import type { SendResult } from "@owed/channel";
import { Ledger } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { always, scriptedChannel, slowDown, throttled, transient } from "../testing/channel.ts";
import { opened, probes, readChannel, setRate } from "../testing/channels.ts";
import { give, handOver } from "../testing/deliveries.ts";
import { acknowledged, comesAgainIn } from "../testing/disposals.ts";
import {
  empty,
  idsOf,
  leaseAll,
  messageFor,
  oweAndQueue,
  oweGroupAndQueue,
  oweOneAndQueue,
  readRows,
} from "../testing/rows.ts";
import { until } from "../testing/until.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

describe("the provider says that nobody may be sent to", () => {
  const daily: SendResult = {
    outcome: "throttled",
    reason: "Throttling: daily",
    retryAfterSeconds: null,
    scope: "quota",
  };
  const twoMinutes: SendResult = {
    outcome: "throttled",
    reason: "Throttling: rate",
    retryAfterSeconds: 120,
    scope: "rate",
  };
  const stopped: SendResult = {
    outcome: "throttled",
    reason: "Paused: account",
    retryAfterSeconds: null,
    scope: "account",
  };

  test.each<[string, SendResult, string, number]>([
    ["the daily quota is used up", daily, "quota", 900],
    ["and until when", { ...daily, retryAfterSeconds: 3600 }, "quota", 3600],
    ["it asks for two minutes", twoMinutes, "throttled", 120],
  ])(
    "%s: the channel is closed at once, and the rest of the batch is not called",
    async (_, result, reason, seconds) => {
      const [first = { id: "", generation: 0, token: 0, group: "" }] = await oweAndQueue(database, 1);
      const group = await oweGroupAndQueue(database, 3);
      const told = Promise.withResolvers<undefined>();
      // The group's first call is in flight when the provider says so to another row.
      const channel = scriptedChannel(({ notificationId }) => {
        if (notificationId === first.id) {
          setImmediate(() => told.resolve(undefined));
          return result;
        }
        return told.promise;
      });
      const { counts, disposals } = await give(database, [first, ...group], { channel });
      expect(counts).toEqual({ claimed: 4, throttled: 1, accepted: 1, notCalled: 2, closed: 1 });
      expect(disposals).toEqual(Array(4).fill(acknowledged));
      expect(channel.sent()).toEqual([first.id, group[0]?.id]);
      expect(await readChannel(database)).toMatchObject({ closed_for: reason, opens_in: seconds });
      for (const row of await readRows(database, [first.id, ...idsOf(group.slice(1))]))
        expect(row).toMatchObject({ state: "pending", attempts: 0, generation: 1 });
      expect(await leaseAll(database)).toEqual([]);

      // The first answer after that opens it for good: no sweep goes on probing.
      await passTime(database.sql, seconds + 1);
      await give(database, [await oweOneAndQueue(database)]);
      expect(await probes(database)).toBe(false);
      expect((await readChannel(database)).failures).toBe(0);
    },
  );

  test("the account is stopped: it answers nobody, and the channel is closed", async () => {
    const rows = await oweAndQueue(database, 3);
    const { counts } = await give(database, rows, { channel: always(stopped) });
    expect(counts).toMatchObject({ claimed: 3, closed: 1 });
    expect(await readChannel(database)).toMatchObject({ closed_for: "account", opens_in: 300 });
    await passTime(database.sql, 301);
    expect(await probes(database)).toBe(true);
    await give(database, [await oweOneAndQueue(database)]);
    expect(await probes(database)).toBe(false);
  });

  test.each<[string, SendResult]>([
    [
      "what is said of the account to one message, others being answered, is that message's own trouble",
      stopped,
    ],
    ["a wait that is over before the next beat closes nothing", throttled],
  ])("%s", async (_, result) => {
    const rows = await oweAndQueue(database, 2);
    const channel = scriptedChannel((_request, call) => (call === 1 ? result : undefined));
    const { counts } = await give(database, rows, { channel });
    expect(counts).toMatchObject({ throttled: 1, accepted: 1 });
    expect(await readChannel(database)).toMatchObject(opened);
  });

  test("and whoever waits for a turn goes back to the ledger at once", async () => {
    await setRate(database, 0.2);
    const rows = await oweAndQueue(database, 4);
    const started = performance.now();
    const { channel, counts } = await give(database, rows, { channel: always(daily) });
    // Nobody has waited for the second turn, five seconds later.
    expect(counts).toEqual({ claimed: 4, throttled: 1, notCalled: 3, closed: 1 });
    expect(channel.calls).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(4000);
  });

  test("of two, what keeps it closed for longer counts", async () => {
    const rows = await oweAndQueue(database, 2);
    const channel = scriptedChannel((_request, call) => (call === 1 ? daily : twoMinutes));
    await give(database, rows, { channel });
    expect(await readChannel(database)).toMatchObject({ closed_for: "quota", opens_in: 900 });
  });

  test("a rate that was exceeded for a moment closes nothing", async () => {
    const rows = await oweAndQueue(database, 5);
    const channel = scriptedChannel((_request, call) => (call < 5 ? slowDown : undefined));
    const { counts } = await give(database, rows, { channel });
    expect(counts).toEqual({ claimed: 5, throttled: 4, accepted: 1 });
    expect(await readChannel(database)).toMatchObject(opened);
  });
});

describe("trouble that can't be told to the ledger", () => {
  test("changes nothing for the batch, which does not outlive its invocation for it", async () => {
    const rows = await oweAndQueue(database, 5);
    const impatient = new Ledger({ ...database.options, deadline: 20 });
    const locked = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    // Somebody keeps the channel's row.
    const lock = database.sql.begin(async (transaction) => {
      await transaction`SELECT FROM owed.channel FOR UPDATE`;
      locked.resolve();
      await free.promise;
    });
    await locked.promise;
    let left = 30;
    const channel = scriptedChannel(() => {
      left = 5;
      return transient;
    });
    const started = performance.now();
    const { disposals, onError } = await handOver(
      impatient,
      rows.map((row) => messageFor(row)),
      {
        channel,
        remaining: () => left - (performance.now() - started) / 1000,
      },
    );
    expect(performance.now() - started).toBeLessThan(5000);
    expect(disposals).toEqual([...Array(3).fill(comesAgainIn(5)), ...Array(2).fill(acknowledged)]);
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      "a channel's trouble was not recorded",
      expect.any(Error),
    );
    free.resolve();
    await lock;
    await until(async () => expect((await readChannel(database)).closed_for).toBe("down"));
    await impatient.close();
  });
});
