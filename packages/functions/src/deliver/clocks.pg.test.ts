import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { accepted, type ScriptedChannel, scriptedChannel } from "../testing/channel.ts";
import { give } from "../testing/deliveries.ts";
import { acknowledged } from "../testing/disposals.ts";
import {
  countStates,
  empty,
  idsOf,
  oweAndQueue,
  oweGroupAndQueue,
  oweOneAndQueue,
  readRows,
} from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

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
