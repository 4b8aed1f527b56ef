import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { owe } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { Ledger } from "../connect/ledger.ts";
import { defaultDurations as durations } from "../durations.ts";
import { pause } from "../operate/pause.ts";
import { resume } from "../operate/resume.ts";
import { empty, newRow } from "../testing/rows.ts";
import { abandonSweep } from "./abandon-sweep.ts";
import { beginSweep } from "./begin-sweep.ts";
import { finishSweep, type SweepCounts } from "./finish-sweep.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const none: SweepCounts = {
  leased: 0,
  published: 0,
  failed: 0,
  cancelled: 0,
  rescued: 0,
  unknown: 0,
  resent: 0,
};
/** Channels of which email has this before it. */
const withEmail = (load: { due: number; inQueue?: number }) =>
  expect.arrayContaining([expect.objectContaining({ channel: "email", ...load })]);
const begin = () => beginSweep(database.ledger, durations);
const finish = (run: string, queueEmpty: boolean | null = null, counts = none) =>
  finishSweep(database.ledger, durations, run, counts, queueEmpty);
async function beginTaken() {
  const beginning = await begin();
  if (!beginning.taken) throw new Error(`not taken: ${beginning.why}`);
  return beginning;
}
/** One beat that begins and finishes, a minute after the one before. Returns whether the queue was empty before. */
async function beat(queueEmpty: boolean | null): Promise<boolean> {
  const { run, queueWasEmpty } = await beginTaken();
  await finish(run, queueEmpty);
  await passTime(database.sql, 60);
  return queueWasEmpty;
}

describe("the heartbeat", () => {
  test("is taken when it is free, and given back at the end", async () => {
    const { run, ...first } = await beginTaken();
    expect(first).toEqual({
      taken: true,
      channels: expect.arrayContaining([
        {
          channel: "email",
          due: 0,
          inQueue: 0,
          rate: null,
          quotaLeft: null,
          limitsAge: null,
          closed: false,
          probing: false,
        },
      ]),
      oldestOwedAt: null,
      onTheWay: { at: expect.stringMatching(/^20/), rows: [] },
      queuedOverdue: false,
      vanished: false,
      unknownDue: false,
      queueWasEmpty: false,
      settled: true,
      shadowDue: false,
      retentionDue: false,
    });
    expect(await begin()).toEqual({ taken: false, why: "held" });
    await finish(run);
    expect((await begin()).taken).toBe(true);
  });

  test("says since when anything is owed, to the microsecond", async () => {
    expect(await begin()).toMatchObject({ oldestOwedAt: null });
    await empty(database);
    const rows = [await newRow(database), await newRow(database, "queued"), await newRow(database)];
    await database.sql`UPDATE owed.notification SET owed_at = '2026-01-02 03:04:05.678901+00' WHERE id = ${rows[2] ?? ""}`;
    expect(await begin()).toMatchObject({ oldestOwedAt: "2026-01-02 03:04:05.678901+00" });
  });

  test("is taken by one of five that come at once, and one run is written", async () => {
    const ledgers = Array.from({ length: 5 }, () => new Ledger({ ...database.options, connections: 1 }));
    const all = await Promise.all(ledgers.map((ledger) => beginSweep(ledger, durations)));
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    expect(all.filter(({ taken }) => taken)).toHaveLength(1);
    expect(await database.sql`SELECT FROM owed.sweep_run`).toHaveLength(1);
  });

  test("passes to the next when its holder's time has passed; the late holder gives nothing back", async () => {
    const killed = await beginTaken();
    await passTime(database.sql, durations.heartbeat - 1);
    expect((await begin()).taken).toBe(false);
    await passTime(database.sql, 1);
    const next = await beginTaken();
    expect(next.run).not.toBe(killed.run);
    await finish(killed.run, true);
    expect(await database.sql`SELECT holder::text, queue_empty_since FROM owed.heartbeat`).toEqual([
      { holder: next.run, queue_empty_since: null },
    ]);
    expect(await begin()).toEqual({ taken: false, why: "held" });
  });

  test("is given back by a sweep that failed, which leaves no end: it was no beat", async () => {
    const failed = await beginTaken();
    await abandonSweep(database.ledger, failed.run);
    const next = await beginTaken();
    expect(await database.sql`SELECT finished_at FROM owed.sweep_run WHERE id = ${failed.run}`).toEqual([
      { finished_at: null },
    ]);
    await abandonSweep(database.ledger, failed.run);
    expect(await begin(), "not given back for the next one").toEqual({ taken: false, why: "held" });
    await finish(next.run);
  });

  test("is not taken while the sweeps are paused, with who did it and why", async () => {
    expect(await pause(database.ledger, "ann", "the provider is down")).toBe(true);
    expect(await pause(database.ledger, "bob", "me too")).toBe(false);
    expect(await begin()).toEqual({ taken: false, why: "paused" });
    expect(await database.sql`SELECT paused_by, paused_why FROM owed.heartbeat`).toEqual([
      { paused_by: "ann", paused_why: "the provider is down" },
    ]);
    expect(await database.sql`SELECT FROM owed.sweep_run`).toEqual([]);
    expect(await resume(database.ledger, { actor: "ana", why: null })).toBe(true);
    expect(await resume(database.ledger, { actor: "ana", why: null })).toBe(false);
    expect((await begin()).taken).toBe(true);
  });

  test("a pause in the middle of a sweep lets it finish", async () => {
    const { run } = await beginTaken();
    await pause(database.ledger, "ann", null);
    await finish(run);
    expect(await begin()).toEqual({ taken: false, why: "paused" });
  });
});

describe("a beginning says what the queue must be asked", () => {
  const due = { owed_at: "now() - interval '1 s'" };
  test.each([
    ["a pending row is due", "pending", 1, {}],
    ["a lease has run out", "leased", 1, {}],
    ["a queued row is overdue", "queued", 0, { queuedOverdue: true }],
    ["a worker has vanished", "sending", 0, { vanished: true }],
    ["an unknown row's grace has passed", "unknown", 0, { unknownDue: true }],
  ] as const)("%s", async (_, shape, rows, flags) => {
    await newRow(database, shape, due);
    expect(await begin()).toMatchObject({
      channels: withEmail({ due: rows }),
      ...{ queuedOverdue: false, vanished: false, unknownDue: false },
      ...flags,
    });
  });

  test("a thousand rows that are due hide none of another kind behind them", async () => {
    await owe(database, 1000);
    await newRow(database, "queued", { owed_at: "now()" });
    expect(await begin()).toMatchObject({
      channels: withEmail({ due: 1000, inQueue: 1 }),
      queuedOverdue: true,
      vanished: false,
      unknownDue: false,
    });
  });

  test("nothing is due", async () => {
    for (const shape of [
      "leased",
      "queued",
      "sending",
      "unknown",
      "held",
      "delivered",
      "dead",
      "cancelled",
    ] as const)
      await newRow(database, shape);
    expect(await begin()).toMatchObject({
      taken: true,
      channels: withEmail({ due: 0, inQueue: 3 }),
      queuedOverdue: false,
      vanished: false,
      unknownDue: false,
    });
  });
});

describe("the queue was empty", () => {
  test("once two runs, long enough apart, have seen it", async () => {
    expect([await beat(true), await beat(true), await beat(true)]).toEqual([false, true, true]);
  });

  test("not when a run between them saw it filled, or did not ask", async () => {
    expect([
      await beat(true),
      await beat(false),
      await beat(true),
      await beat(null),
      await beat(true),
      await beat(true),
    ]).toEqual([false, true, false, true, false, true]);
  });

  test("not when the two runs were closer than the queue's counts lag", async () => {
    const { run } = await beginTaken();
    await finish(run, true);
    await passTime(database.sql, durations.queueEmpty - 1);
    expect((await beginTaken()).queueWasEmpty).toBe(false);
  });
});

describe("the end of a run", () => {
  test("keeps its counts, what is still owed, and the age of the oldest", async () => {
    const { run } = await beginTaken();
    await newRow(database, "pending", {
      owed_at: "now() - interval '5 s'",
      due_at: "now() - interval '300 s'",
    });
    await newRow(database, "leased", {
      owed_at: "now() - interval '5 s'",
      due_at: "now() - interval '60 s'",
    });
    await newRow(database, "pending", { owed_at: "now() + interval '5 s'" });
    await newRow(database, "queued", { owed_at: "now() - interval '5 s'" });
    const counts = { leased: 7, published: 6, failed: 1, cancelled: 2, rescued: 3, unknown: 4, resent: 5 };
    const finished = await finish(run, null, counts);
    expect(finished.owed).toBe(2);
    expect(finished.oldestOwedAge).toBeCloseTo(300, -1);
    const [row] = await database.sql`SELECT *, finished_at >= started_at AS ended FROM owed.sweep_run`;
    expect(row).toMatchObject({
      ...counts,
      owed: 2,
      oldest_owed_s: finished.oldestOwedAge,
      time_to_drain_s: finished.timeToDrain,
      ended: true,
    });
  });

  test("says nought when nothing is owed", async () => {
    const { run } = await beginTaken();
    expect(await finish(run)).toEqual({ owed: 0, oldestOwedAge: 0, timeToDrain: 0 });
  });
});

describe("a beginning says whether something is to be published in shadow", () => {
  const held = { mode: "'shadow'", owed_at: "'infinity'" };
  test.each([
    ["what fell due", { ...held, due_at: "now()" }, true],
    ["what is due later", { ...held, due_at: "now() + interval '1 minute'" }, false],
    ["what has been published", { ...held, shadow_published_at: "now()" }, false],
    ["what Owed would not send", { ...held, shadow_moot: "'expired'" }, false],
    ["what the old sender has alone", { ...held, mode: "'old'" }, false],
    ["what Owed sends itself", {}, false],
  ])("%s", async (_, columns, shadowDue) => {
    await newRow(database, "pending", columns);
    expect(await begin()).toMatchObject({ shadowDue });
  });
});
