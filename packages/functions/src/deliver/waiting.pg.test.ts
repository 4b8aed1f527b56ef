import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { accepted, scriptedChannel } from "../testing/channel.ts";
import { setRate } from "../testing/channels.ts";
import { give } from "../testing/deliveries.ts";
import { acknowledged } from "../testing/disposals.ts";
import { countStates, empty, idsOf, leaseAll, oweAndQueue, readRows, readTries } from "../testing/rows.ts";
import { Pace } from "./pace.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

/** A channel that notes when it was called, in seconds. */
function timedChannel() {
  const times: number[] = [];
  const channel = scriptedChannel(({ notificationId }) => {
    times.push(performance.now() / 1000);
    return accepted(`P-${notificationId}`);
  });
  return { channel, times };
}
/** So many seconds are left for calls: the invocation keeps fifteen for one call and its record. */
const forCalls = (seconds: number) => () => 15 + seconds;

describe("the channel's rate, by its row in the ledger", () => {
  test("bounds the calls; a row whose turn does not come in time is given back at once, and costs nothing", async () => {
    await setRate(database, 4);
    const rows = await oweAndQueue(database, 10);
    const { channel, times } = timedChannel();
    const { counts, disposals } = await give(database, rows, { channel, remaining: forCalls(0.6) });
    // A second's share at once, and what the rate allows in 0.6 s.
    expect(counts).toEqual({ claimed: 10, accepted: 6, notCalled: 4 });
    expect(disposals).toEqual(Array(10).fill(acknowledged));
    // The last of them came by the rate; a busy machine may have noted the first one late.
    expect((times[5] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(0.3);
    expect(await countStates(database)).toEqual({ delivered: 6, pending: 4 });
    const sent = new Set(channel.sent());
    const left = rows.filter(({ id }) => !sent.has(id));
    for (const row of await readRows(database, idsOf(left))) {
      expect(row).toMatchObject({ state: "pending", attempts: 0, generation: 1, reason: null });
      expect(await readTries(database, row.id)).toEqual([]);
    }
    // Owed now, for the next sweep.
    expect(idsOf(await leaseAll(database)).toSorted()).toEqual(idsOf(left).toSorted());
  });

  test("is shared by all workers, each with its part", async () => {
    await setRate(database, 8);
    const rows = await oweAndQueue(database, 10);
    const pace = new Pace({ workers: 4 });
    const { counts } = await give(database, rows, { pace, remaining: forCalls(0.1) });
    expect(counts).toEqual({ claimed: 10, accepted: 2, notCalled: 8 });
  });

  test("counts from batch to batch of a worker", async () => {
    await setRate(database, 2);
    const rows = await oweAndQueue(database, 4);
    const pace = new Pace({ workers: 1 });
    const options = { pace, remaining: forCalls(0.1) };
    expect((await give(database, rows.slice(0, 2), options)).counts).toEqual({ claimed: 2, accepted: 2 });
    // The database took some of the time; less than a second's share is back.
    expect((await give(database, rows.slice(2), options)).counts.notCalled).toBeGreaterThanOrEqual(1);
  });

  test("none known: nobody waits", async () => {
    const rows = await oweAndQueue(database, 10);
    const { counts } = await give(database, rows, { remaining: forCalls(0.1) });
    expect(counts).toEqual({ claimed: 10, accepted: 10 });
  });

  test("less than one in the batch's time: a worker's first row goes, and the next one waits in the ledger", async () => {
    await setRate(database, 0.01);
    const rows = await oweAndQueue(database, 3);
    const { counts } = await give(database, rows, { remaining: forCalls(1) });
    expect(counts).toEqual({ claimed: 3, accepted: 1, notCalled: 2 });
  });
});

describe("four groups wait for their turn, and when it comes", () => {
  /** Gives everybody a turn, when `until` has let go. */
  const turnsAfter = (until: Promise<void>) => ({
    take: async () => {
      await until;
      return true;
    },
  });

  test("the invocation has no time left: nobody is called, and all are given back", async () => {
    const rows = await oweAndQueue(database, 4);
    const turn = Promise.withResolvers<void>();
    let left = 30;
    const delivery = give(database, rows, { pace: turnsAfter(turn.promise), remaining: () => left });
    left = 15;
    turn.resolve();
    const { channel, counts, disposals } = await delivery;
    expect([channel.calls, counts]).toEqual([[], { claimed: 4, notCalled: 4 }]);
    expect(disposals).toEqual(Array(4).fill(acknowledged));
    expect(await countStates(database)).toEqual({ pending: 4 });
  });

  test("the machine was frozen for longer than the send lease allows: nobody is called", async () => {
    const rows = await oweAndQueue(database, 4);
    const turn = Promise.withResolvers<void>();
    let frozen = 0;
    const clocks = () => ({ wall: 1_774_776_600_000 + frozen, monotonic: 1000 });
    const delivery = give(database, rows, { pace: turnsAfter(turn.promise), clocks });
    frozen = 45_000;
    turn.resolve();
    const { channel, counts } = await delivery;
    expect([channel.calls, counts]).toEqual([[], { claimed: 4, notCalled: 4 }]);
  });
});
