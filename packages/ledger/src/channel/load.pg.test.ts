import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { owe } from "../../../../tests/support/shipment.ts";
import { type Channel, readChannels } from "../ask/channels.ts";
import { defaultDurations as durations } from "../durations.ts";
import { beginSweep } from "../sweep/begin-sweep.ts";
import { finishSweep } from "../sweep/finish-sweep.ts";
import { setChannel, shut } from "../testing/channel.ts";
import { empty, everyShape, newRow, reshape, shapes } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const none = { leased: 0, published: 0, failed: 0, cancelled: 0, rescued: 0, unknown: 0, resent: 0 };
const one = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;

/** One sweep that published so many rows in so many seconds; what its end says. */
async function sweep(published: number, seconds: number) {
  const beginning = await beginSweep(database.ledger, durations);
  if (!beginning.taken) throw new Error(beginning.why);
  const finished = await finishSweep(database.ledger, durations, beginning.run, { ...none, published }, null);
  await database.sql`
    UPDATE owed.sweep_run SET started_at = finished_at - make_interval(secs => ${seconds}) WHERE id = ${beginning.run}`;
  return { finished, channels: beginning.channels };
}

describe("what the channels have before them", () => {
  // A plan for any values holds a third of all rows for owed. Where they are scattered over a table of millions it would read
  // all of it; here it would, since the table is small.
  test("is read by the index of what is owed, and the ledger is not scanned", async () => {
    await owe(database, 50);
    await database.sql`ANALYZE owed.notification`;
    const [before, after] = await database.sql.begin(async (sql) => {
      const count = async () => {
        const [row] = await sql<{ scans: number; looks: number }[]>`
          SELECT coalesce(sum(seq_scan), 0)::int AS scans, coalesce(sum(idx_scan), 0)::int AS looks
          FROM pg_stat_xact_user_tables WHERE relid = 'owed.notification'::regclass`;
        return row ?? { scans: Number.NaN, looks: Number.NaN };
      };
      const then = await count();
      await sql`SELECT * FROM owed.load(${durations.lostAfter}, ${durations.lease})`;
      return [then, await count()];
    });
    expect(after).toEqual({ scans: before.scans, looks: before.looks + 1 });
  });

  test.each([1, 2, 3])("is what a count of every row says, over rows in any state (%i)", async () => {
    await owe(database, 150);
    const ids = await database.sql<{ id: string }[]>`SELECT id FROM owed.notification`;
    const rows = [];
    for (const { id } of ids) {
      const shape = one(everyShape);
      const isOwed = shapes[shape].owed_at !== "NULL";
      const row = {
        shape,
        owed: isOwed ? one([-86_400, -3600, -5, 5, 60, 900, durations.lostAfter - 30]) : Number.NaN,
        due: one([-90_000, -7200, -30]),
        channel: one(["email", "sms"]),
      };
      rows.push(row);
      await reshape(database, id, shape, {
        channel: `'${row.channel}'`,
        due_at: `now() + interval '${row.due} s'`,
        ...(isOwed ? { owed_at: `now() + interval '${row.owed} s'` } : {}),
      });
    }
    for (const name of ["email", "sms"]) {
      const own = rows.filter(({ channel }) => channel === name);
      const due = own.filter(({ shape, owed }) => ["pending", "leased"].includes(shape) && owed <= 0);
      const inQueue = own.filter(
        ({ shape, owed }) => ["queued", "sending"].includes(shape) || (shape === "leased" && owed > 0),
      );
      const overdue = (state: string) => own.some(({ shape, owed }) => shape === state && owed <= 0);
      const [load] = await database.sql`
        SELECT due::int, in_queue::int, queued_overdue, unknown_due, vanished,
          extract(epoch FROM now() - oldest_due_at)::float8 AS oldest
        FROM owed.load(${durations.lostAfter}, ${durations.lease}) WHERE channel = ${name}`;
      expect(load).toEqual({
        due: due.length,
        in_queue: inQueue.length,
        queued_overdue: overdue("queued"),
        unknown_due: overdue("unknown"),
        vanished: overdue("sending"),
        oldest: due.length > 0 ? expect.closeTo(Math.max(...due.map((row) => -row.due)), -2) : null,
      });
      const channel = (await readChannels(database.ledger, durations)).find((other) => other.name === name);
      expect(channel).toMatchObject({ due: due.length, inQueue: inQueue.length });
    }
  });

  test("includes rows that were queued in this very moment, for as long as they may stay", async () => {
    await newRow(database, "queued", { owed_at: `now() + make_interval(secs => ${durations.lostAfter})` });
    const [email] = await readChannels(database.ledger, durations);
    expect(email).toMatchObject({ due: 0, inQueue: 1 });
  });

  test.each(["pending", "leased"] as const)("is as old as its oldest row, be that %s", async (shape) => {
    for (const other of ["pending", "leased"] as const)
      await newRow(database, other, { owed_at: "now()", due_at: "now() - interval '1 hour'" });
    await newRow(database, shape, { owed_at: "now()", due_at: "now() - interval '1 day'" });
    // What is not due yet, or not with the sweep any more, is older and does not count.
    await newRow(database, shape, {
      owed_at: "now() + interval '1 min'",
      due_at: "now() - interval '2 days'",
    });
    await newRow(database, "queued", { due_at: "now() - interval '2 days'" });
    expect(
      await database.sql`
        SELECT due::int, extract(epoch FROM now() - oldest_due_at)::float8 / 3600 AS hours
        FROM owed.load(${durations.lostAfter}, ${durations.lease}) WHERE channel = 'email'`,
    ).toEqual([{ due: 3, hours: expect.closeTo(24, 1) }]);
  });

  test("is nothing where nothing is owed", async () => {
    const channels = await readChannels(database.ledger, durations);
    expect(channels.map(({ name }) => name)).toEqual(expect.arrayContaining(["email", "sms", "webhook"]));
    for (const channel of channels)
      expect(channel).toMatchObject({ due: 0, inQueue: 0, timeToDrain: 0, closed: null });
  });
});

test("a channel is told with its limits, and for what it is closed", async () => {
  await setChannel(database, { rate: "14", quota: "100", used: "7", limits_read_at: "now()", failures: "3" });
  await shut(database, 300, { reason: "quota" });
  await shut(database, null, { name: "sms", reason: "operator" });
  const [email, sms] = await readChannels(database.ledger, durations);
  expect(email).toMatchObject({
    ...{ rate: 14, quota: 100, used: 7, limitsReadAt: expect.any(Date), failures: 3 },
    closed: { for: "quota", why: "arranged", since: expect.any(Date), until: expect.any(Date) },
  });
  expect(sms?.closed).toEqual({ for: "operator", why: "arranged", since: expect.any(Date), until: null });
  await shut(database, 0);
  expect((await readChannels(database.ledger, durations))[0]?.closed, "once it has passed").toBeNull();
});

describe("the time to drain", () => {
  const drain = async (): Promise<Channel["timeToDrain"]> =>
    (await readChannels(database.ledger, durations))[0]?.timeToDrain ?? null;
  /** Four rows due, two with the queue. */
  async function backlog(): Promise<void> {
    for (const shape of ["pending", "pending", "pending", "pending", "queued", "sending"] as const)
      await newRow(database, shape);
  }

  test("is what is due and what the queue has, at the provider's rate", async () => {
    await backlog();
    await setChannel(database, { rate: "0.5" });
    expect(await drain()).toBe(12);
  });

  test("begins when the channel opens", async () => {
    await backlog();
    await setChannel(database, { rate: "0.5" });
    await shut(database, 300);
    expect(await drain()).toBeCloseTo(312, -1);
    await setChannel(database, { rate: "NULL" });
    await sweep(2, 10);
    expect(await drain()).toBeCloseTo(320, -1);
  });

  test("is not known of a channel that only a person opens, unless it has nothing to send", async () => {
    await shut(database, null);
    expect(await drain()).toBe(0);
    await newRow(database, "queued");
    expect(await drain()).toBe(0);
    await backlog();
    expect(await drain()).toBeNull();
    await setChannel(database, { rate: "0.5" });
    expect(await drain()).toBeNull();
  });

  test("without a rate follows the pace of the last ten sweeps that published something", async () => {
    await backlog();
    expect(await drain(), "no sweep has published yet").toBeNull();
    await sweep(1000, 1);
    for (let turn = 0; turn < 9; turn += 1) await sweep(0, 50);
    expect(await drain()).toBeCloseTo(0.004, 5);
    for (let turn = 0; turn < 10; turn += 1) await sweep(2, 10);
    expect(await drain()).toBe(20);
  });

  test("without a rate counts nothing that the queue has: its pace is not known", async () => {
    await newRow(database, "queued");
    expect(await drain()).toBe(0);
  });

  test("of the slowest channel stands on the run; null when one has rows and is closed for ever", async () => {
    await backlog();
    await setChannel(database, { rate: "0.5" });
    await newRow(database, "pending", { channel: "'sms'" });
    await setChannel(database, { rate: "0.01" }, "sms");
    expect((await sweep(0, 1)).finished).toMatchObject({ owed: 5, timeToDrain: 100 });
    await shut(database, null);
    expect((await sweep(0, 1)).finished).toMatchObject({ owed: 5, timeToDrain: null });
    await database.sql`UPDATE owed.notification SET channel = 'sms'`;
    expect((await sweep(0, 1)).finished).toMatchObject({ owed: 5, timeToDrain: 700 });
    expect(await database.sql`SELECT time_to_drain_s FROM owed.sweep_run ORDER BY id`).toMatchObject([
      { time_to_drain_s: 100 },
      { time_to_drain_s: null },
      { time_to_drain_s: 700 },
    ]);
  });

  test("a beginning says what is closed, and what is only probed", async () => {
    await shut(database, null);
    await setChannel(database, { openings: "1" }, "sms");
    expect((await sweep(0, 1)).channels).toMatchObject([
      { channel: "email", closed: true, probing: false },
      { channel: "sms", closed: false, probing: true },
      { channel: "webhook", closed: false, probing: false },
    ]);
  });
});
