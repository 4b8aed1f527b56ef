import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import {
  refused,
  type ScriptedChannel,
  scriptedChannel,
  slowDown,
  transient,
  unknown,
} from "../testing/channel.ts";
import { give } from "../testing/deliveries.ts";
import { acknowledged, comesAgainIn } from "../testing/disposals.ts";
import {
  countStates,
  empty,
  idsOf,
  leaseAll,
  oweAndQueue,
  oweGroupAndQueue,
  oweOneAndQueue,
  readRows,
  readTries,
  statesOf,
} from "../testing/rows.ts";
import { until } from "../testing/until.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

describe("groups", () => {
  /** Lets sends go on one by one, and shows which are waiting. */
  const stepwise = () => {
    const waiting = new Map<string, (result: undefined) => void>();
    const channel = scriptedChannel(({ notificationId }) => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      waiting.set(notificationId, resolve);
      return promise;
    });
    const end = (id: string) => {
      waiting.get(id)?.(undefined);
      waiting.delete(id);
    };
    return { channel, waiting, end };
  };

  test("are sent side by side, and the rows of each in their order", async () => {
    const groups = [
      await oweGroupAndQueue(database, 3),
      await oweGroupAndQueue(database, 3),
      await oweGroupAndQueue(database, 2),
    ];
    // Mixed, as a batch may have them.
    const mixed = [0, 1, 2].flatMap((place) => groups.flatMap((group) => group[place] ?? []));
    const { channel, waiting, end } = stepwise();
    const delivery = give(database, mixed, { channel });
    for (const place of [0, 1, 2]) {
      const turn = groups.flatMap((group) => group[place]?.id ?? []);
      await until(() => expect([...waiting.keys()].toSorted()).toEqual(turn.toSorted()));
      for (const id of turn) end(id);
    }
    expect((await delivery).counts).toEqual({ claimed: 8, accepted: 8 });
    for (const group of groups)
      expect(channel.sent().filter((id) => group.some((row) => row.id === id))).toEqual(idsOf(group));
  });

  test("are what the ledger says, whatever a message claims to be of", async () => {
    const group = await oweGroupAndQueue(database, 3);
    const [first] = group;
    const other = await oweOneAndQueue(database);
    const channel = scriptedChannel(({ notificationId }) =>
      notificationId === first?.id ? refused : undefined,
    );
    const forged = [...group, other].map((row, place) => ({ ...row, group: place === 2 ? "alone" : "one" }));
    await give(database, forged, { channel });
    expect(channel.sent().toSorted()).toEqual([first?.id, other.id].toSorted());
    expect(await statesOf(database, forged)).toEqual(["dead", "pending", "pending", "delivered"]);
  });

  test("a slow group holds up no other one", async () => {
    const slow = await oweGroupAndQueue(database, 2);
    const fast = await oweGroupAndQueue(database, 3);
    const gate = Promise.withResolvers<undefined>();
    const channel = scriptedChannel(({ notificationId }) =>
      notificationId === slow[0]?.id ? gate.promise : undefined,
    );
    const delivery = give(database, [...slow, ...fast], { channel });
    await until(async () => expect(await statesOf(database, fast)).toEqual(Array(3).fill("delivered")));
    expect(await statesOf(database, slow)).toEqual(["sending", "sending"]);
    gate.resolve(undefined);
    expect((await delivery).disposals).toEqual(Array(5).fill(acknowledged));
  });

  test.each([
    ["refused", refused, 1, "dead", comesAgainIn(0)],
    ["failed for now", transient, 1, "queued", comesAgainIn(5)],
    ["exhausted", transient, 5, "dead", comesAgainIn(0)],
  ])(
    "a row that is %s: the later ones are not called, and come again as new messages",
    async (_, result, receives, state, disposal) => {
      const group = await oweGroupAndQueue(database, 5);
      const other = await oweOneAndQueue(database);
      const [, poison] = group;
      const channel = scriptedChannel(({ notificationId }) =>
        notificationId === poison?.id ? result : undefined,
      );
      const { counts, disposals } = await give(database, [...group, other], {
        channel,
        message: { receives },
      });
      expect(channel.sent().toSorted()).toEqual(idsOf([...group.slice(0, 2), other]).toSorted());
      expect(disposals).toEqual([
        acknowledged,
        disposal,
        acknowledged,
        acknowledged,
        acknowledged,
        acknowledged,
      ]);
      expect(counts).toMatchObject({ claimed: 6, accepted: 2, notCalled: 3 });
      expect(await statesOf(database, [...group, other])).toEqual([
        "delivered",
        state,
        "pending",
        "pending",
        "pending",
        "delivered",
      ]);
      for (const row of await readRows(database, idsOf(group.slice(2)))) {
        expect(row).toMatchObject({ state: "pending", attempts: 0, generation: 1, reason: null });
        expect(await readTries(database, row.id)).toEqual([]);
      }
      // They are owed now: the next sweep takes them, in their order.
      expect((await leaseAll(database)).map(({ id }) => id)).toEqual(idsOf(group.slice(2)));
    },
  );

  test("a row whose outcome is unknown holds nobody back", async () => {
    const group = await oweGroupAndQueue(database, 3);
    const channel = scriptedChannel((_request, call) => (call === 1 ? unknown : undefined));
    const { disposals } = await give(database, group, { channel });
    expect(disposals).toEqual(Array(3).fill(acknowledged));
    expect(await statesOf(database, group)).toEqual(["unknown", "delivered", "delivered"]);
  });

  test("behind a row that is throttled the later ones wait as long, and then come in their order", async () => {
    const group = await oweGroupAndQueue(database, 3);
    const channel = scriptedChannel((_request, call) => (call === 1 ? slowDown : undefined));
    const { counts, disposals } = await give(database, group, { channel });
    expect(counts).toEqual({ claimed: 3, throttled: 1, notCalled: 2 });
    expect(disposals).toEqual(Array(3).fill(acknowledged));
    for (const row of await readRows(database, idsOf(group)))
      expect(row).toMatchObject({ state: "pending", attempts: 0, generation: 1 });
    expect(await leaseAll(database)).toEqual([]);
    // Five seconds at least, and a minute of jitter.
    await passTime(database.sql, 66);
    expect(idsOf(await leaseAll(database))).toEqual(idsOf(group));
  });

  test("and wait as long where their own turn would not have come", async () => {
    const group = await oweGroupAndQueue(database, 2);
    const channel = scriptedChannel(() => slowDown);
    let turns = 0;
    await give(database, group, { channel, pace: { take: async () => turns++ === 0 } });
    expect(turns).toBe(1);
    expect(await leaseAll(database)).toEqual([]);
  });

  test("a row whose turn does not come holds back the later ones, were there a turn for them or not", async () => {
    const group = await oweGroupAndQueue(database, 3);
    let turns = 0;
    const pace = { take: async () => turns++ !== 1 };
    const { channel, counts } = await give(database, group, { pace });
    expect(counts).toEqual({ claimed: 3, accepted: 1, notCalled: 2 });
    expect(channel.sent()).toEqual(idsOf(group.slice(0, 1)));
    expect(idsOf(await leaseAll(database))).toEqual(idsOf(group.slice(1)));
  });
});

describe("the clocks are looked at right before each call", () => {
  const start = { wall: 1_774_776_600_000, monotonic: 1000 };
  /** Time that passes, by the clocks given, from the second look on. */
  const after = (later: typeof start) => {
    let looks = 0;
    return () => (looks++ === 0 ? start : later);
  };
  const notCalled = async (options: Parameters<typeof give>[2]) => {
    const rows = await oweAndQueue(database, 2);
    const { channel, counts, disposals } = await give(database, rows, options);
    expect({ calls: channel.calls, counts, disposals }).toEqual({
      calls: [],
      counts: { claimed: 2, notCalled: 2 },
      disposals: [acknowledged, acknowledged],
    });
    for (const row of await readRows(database, idsOf(rows)))
      expect(row).toMatchObject({ state: "pending", attempts: 0, generation: 1 });
  };

  test("a frozen worker, whose wall clock shows that it was, does not call", async () => {
    await notCalled({ clocks: after({ ...start, wall: start.wall + 45_000 }) });
  });
  test("nor one whose monotonic clock alone shows it", async () => {
    await notCalled({ clocks: after({ ...start, monotonic: start.monotonic + 45_000 }) });
  });
  test("nor one whose wall clock was set back by as much: it shows nothing", async () => {
    await notCalled({ clocks: after({ ...start, wall: start.wall - 3_600_000 }) });
  });
  test("nor one whose invocation ends before a call and its record would", async () => {
    await notCalled({ remaining: () => 15 });
  });

  test("with a moment left on all of them it calls", async () => {
    const row = await oweOneAndQueue(database);
    const clocks = after({ wall: start.wall + 44_000, monotonic: start.monotonic + 44_000 });
    const { channel } = await give(database, [row], { clocks, remaining: () => 16 });
    expect(channel.sent()).toEqual([row.id]);
  });

  test("the rest of a group whose time runs out is given back", async () => {
    const group = await oweGroupAndQueue(database, 3);
    let left = 30;
    const channel: ScriptedChannel = scriptedChannel(() => {
      left = 15;
      return undefined;
    });
    const { counts, disposals } = await give(database, group, { channel, remaining: () => left });
    expect(counts).toEqual({ claimed: 3, accepted: 1, notCalled: 2 });
    expect(disposals).toEqual(Array(3).fill(acknowledged));
    expect(await countStates(database)).toEqual({ delivered: 1, pending: 2 });
  });
});
