import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { pause } from "../operate/pause.ts";
import { type Columns, empty, newRow, type Shape } from "../testing/rows.ts";
import { countStopped } from "./count-stopped.ts";
import { listBeats } from "./list-beats.ts";
import { readPulse } from "./read-pulse.ts";
import { readStatus } from "./status.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const sweep = (started: number, finished: number | null, columns: Record<string, number> = {}) =>
  database.sql`
    INSERT INTO owed.sweep_run ${database.sql({
      started_at: new Date(started * 1000),
      finished_at: finished === null ? null : new Date(finished * 1000),
      ...columns,
    })}`;
const none = { pending: 0, leased: 0, queued: 0, sending: 0, unknown: 0 };

describe("the pulse", () => {
  test("of an empty ledger", async () => {
    expect(await readPulse(database.ledger)).toEqual({
      ...{ owed: 0, oldestOwedAge: 0, stopped: 0, lastSweepAt: null, paused: null },
      states: none,
    });
  });

  test.each<[Shape, Columns, states: Partial<typeof none>, owed: number]>([
    ["pending", {}, { pending: 1 }, 1],
    ["pending", { owed_at: "now() + interval '1 minute'" }, { pending: 1 }, 0],
    ["pending", { due_at: "now() + interval '1 hour'", owed_at: "now() + interval '1 hour'" }, {}, 0],
    ["leased", {}, { leased: 1 }, 0],
    ["leased", { owed_at: "now()" }, { leased: 1 }, 1],
    ["queued", {}, { queued: 1 }, 0],
    ["queued", { owed_at: "now()" }, { queued: 1 }, 0],
    ["sending", {}, { sending: 1 }, 0],
    ["unknown", {}, { unknown: 1 }, 0],
    ["held", {}, { unknown: 1 }, 0],
    ["delivered", {}, {}, 0],
    ["dead", {}, {}, 0],
    ["cancelled", {}, {}, 0],
    ["pending", { mode: "'old'", owed_at: "'infinity'" }, {}, 0],
  ])("%s %o", async (shape, columns, states, owed) => {
    await newRow(database, shape, columns);
    const pulse = await readPulse(database.ledger);
    const stopped = shape === "held" || shape === "dead" ? 1 : 0;
    expect(pulse).toMatchObject({ owed, stopped, states: { ...none, ...states } });
    const status = await readStatus(database.ledger);
    expect({ owed: status.owed, stopped: status.stopped }).toEqual({ owed, stopped });
  });

  test("how old the oldest is that is owed, and no other", async () => {
    await newRow(database, "queued", { due_at: "now() - interval '500 s'" });
    await newRow(database, "pending", { due_at: "now() - interval '100 s'" });
    await newRow(database, "pending", { due_at: "now() - interval '200 s'" });
    expect((await readPulse(database.ledger)).oldestOwedAge).toBeCloseTo(200, -1);
  });

  test("the last sweep that came to its end, and who paused", async () => {
    await sweep(1000, 1010);
    await sweep(2000, 2010);
    await sweep(3000, null);
    await pause(database.ledger, "ana", "maintenance");
    expect(await readPulse(database.ledger)).toMatchObject({
      lastSweepAt: new Date(2_010_000),
      paused: { at: expect.any(Date), by: "ana", why: "maintenance" },
    });
  });
});

test("the last sweeps, the newest first, with what they counted", async () => {
  expect(await listBeats(database.ledger, 5)).toEqual([]);
  const counts = {
    leased: 1,
    published: 2,
    failed: 3,
    cancelled: 4,
    rescued: 5,
    unknown: 6,
    resent: 7,
    owed: 8,
  };
  await sweep(1000, 1010);
  await sweep(3000, null);
  await sweep(2000, 2010, { ...counts, oldest_owed_s: 9.5, time_to_drain_s: 10.5 });
  const [running, last, ...more] = await listBeats(database.ledger, 2);
  expect(running).toEqual({
    startedAt: new Date(3_000_000),
    ...{ finishedAt: null, oldestOwedAge: null, timeToDrain: null },
    ...Object.fromEntries(Object.keys(counts).map((name) => [name, null])),
  });
  expect(last).toEqual({
    ...{ startedAt: new Date(2_000_000), finishedAt: new Date(2_010_000) },
    ...{ ...counts, oldestOwedAge: 9.5, timeToDrain: 10.5 },
  });
  expect(more).toEqual([]);
});

test("what waits for a person, by state, channel and the first word of the reason", async () => {
  expect(await countStopped(database.ledger)).toEqual([]);
  for (const shape of ["pending", "unknown", "delivered", "cancelled"] as const)
    await newRow(database, shape);
  const stopped = (minutes: number, reason: string): Columns => ({
    stopped_at: `to_timestamp(${minutes * 60})`,
    reason,
  });
  await newRow(database, "dead", stopped(1, "'refused: no such mailbox'"));
  await newRow(database, "dead", stopped(3, "'refused: <script>'"));
  await newRow(database, "dead", stopped(2, "'refused'"));
  await newRow(database, "dead", { ...stopped(4, "'refused'"), channel: "'sms'" });
  await newRow(database, "held", stopped(5, "'refused'"));
  await newRow(database, "held", stopped(6, "NULL"));
  const at = (minutes: number) => new Date(minutes * 60_000);
  expect(await countStopped(database.ledger)).toEqual([
    { state: "dead", channel: "email", reason: "refused", rows: 3, oldestAt: at(1), newestAt: at(3) },
    { state: "dead", channel: "sms", reason: "refused", rows: 1, oldestAt: at(4), newestAt: at(4) },
    { state: "unknown", channel: "email", reason: "held", rows: 1, oldestAt: at(6), newestAt: at(6) },
    { state: "unknown", channel: "email", reason: "refused", rows: 1, oldestAt: at(5), newestAt: at(5) },
  ]);
});
