import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { defaultDurations as durations } from "../durations.ts";
import { lookAtQueued } from "../operate/look-at-queued.ts";
import { claimRow, look, receive, take } from "../testing/act.ts";
import { empty, newRow, readRow, readTries, rewriteRules, secondsUntil } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const due = { owed_at: "now() - interval '1 s'" };
const queuedAgo = (seconds: number) => ({ queued_at: `now() - interval '${seconds} s'` });

describe("a worker that vanished (13)", () => {
  test("leaves a row that is unknown from now on, and waits for evidence", async () => {
    const id = await newRow(database, "sending", { leased_until: "now() - interval '1 s'", ...due });
    expect(await look(database)).toMatchObject({ taken: 1, unknown: 1 });
    expect(await readRow(database, id)).toMatchObject({
      state: "unknown",
      lease_token: 2,
      generation: 0,
      attempts: 1,
      reason: expect.stringMatching(/^no_outcome:/),
    });
    expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(durations.grace, -1);
    expect(await readTries(database, id)).toEqual(["unknown"]);
  });

  test("is not looked for before its send lease has passed, however long ago the row was due", async () => {
    const id = await newRow(database, "pending", { owed_at: "now() - interval '1 day'" });
    await claimRow(database, id);
    await passTime(database.sql, durations.sendLease - 1);
    expect((await look(database)).taken).toBe(0);
    await passTime(database.sql, 1);
    expect(await look(database)).toMatchObject({ taken: 1, unknown: 1 });
  });
});

describe("an unknown row whose grace has passed", () => {
  test("is resent up to three times, each counted as a possible duplicate, then held for a person (14, 15)", async () => {
    const id = await newRow(database, "unknown", due);
    for (const resends of [1, 2, 3]) {
      expect(await look(database)).toMatchObject({ taken: 1, resent: 1 });
      expect(await readRow(database, id)).toMatchObject({
        state: "pending",
        generation: resends,
        resends,
        rescues: 0,
        stopped_at: null,
      });
      // Owed now: the same sweep's next slice publishes it.
      expect((await take(database)).leased).toMatchObject([{ id, generation: resends }]);
      await database.sql`UPDATE owed.notification SET state = 'unknown', owed_at = now() WHERE id = ${id}`;
    }
    expect(await look(database)).toMatchObject({ taken: 1, resent: 0, held: 1 });
    expect(await readRow(database, id)).toMatchObject({
      state: "unknown",
      owed_at: null,
      stopped_at: expect.any(Date),
      resends: 3,
      generation: 3,
    });
    expect(await readTries(database, id)).toEqual(["resent", "resent", "resent", "held"]);
    expect((await look(database)).taken).toBe(0);
  });

  test("is held at once where its rule says so", async () => {
    const id = await newRow(database, "unknown", due);
    await rewriteRules(
      database,
      "on_unknown = 'hold'",
      `id = (SELECT rule_id FROM owed.notification WHERE id = '${id}')`,
    );
    expect(await look(database)).toMatchObject({ taken: 1, held: 1, resent: 0 });
    await rewriteRules(database, "on_unknown = 'resend'");
    expect(await readRow(database, id)).toMatchObject({ state: "unknown", owed_at: null, generation: 0 });
    expect(await readTries(database, id)).toEqual(["held"]);
  });

  test("waits while the provider's own events are backed up", async () => {
    const id = await newRow(database, "unknown", due);
    const before = await readRow(database, id);
    expect((await look(database, { unknown: "skip" })).taken).toBe(0);
    expect(await readRow(database, id)).toEqual(before);
  });

  test("does not wait for less than its grace", async () => {
    await newRow(database, "unknown");
    await passTime(database.sql, durations.grace - 1);
    expect((await look(database)).taken).toBe(0);
  });
});

describe("a queued row that is overdue", () => {
  /** Another row, queued so many seconds ago, is claimed now. */
  const claimOther = async (queued: number) =>
    claimRow(database, await newRow(database, "queued", queuedAgo(queued)));
  const overdue = (queued: number) => newRow(database, "queued", { ...due, ...queuedAgo(queued) });
  /** Time enough for the claim's minute to count. */
  const longAgo = durations.lostAfter + 60;

  test.each([
    ["queued a minute before a row that was claimed lost-after ago: lost", 101, 40, longAgo, "rescued"],
    [
      "queued less than a minute before it: the order between groups proves nothing",
      99,
      40,
      longAgo,
      "waited",
    ],
    ["queued after it", 40, 100, longAgo, "waited"],
    [
      "queued before a row that was claimed only lately: the consumer may be catching up",
      101,
      40,
      durations.lostAfter - 1,
      "waited",
    ],
    ["queued before a row that was claimed two weeks ago: too old to tell", 101, 40, 15 * 86400, "waited"],
  ])("%s", async (_, queued, other, passed, outcome) => {
    await claimOther(other);
    const id = await overdue(queued);
    await passTime(database.sql, passed);
    expect(await look(database, { unknown: "skip" })).toMatchObject({
      rescued: outcome === "rescued" ? 1 : 0,
    });
    expect(await readTries(database, id)).toEqual(outcome === "rescued" ? ["rescued"] : []);
  });

  test("waits for another lost-after when nothing is known (17)", async () => {
    const id = await overdue(3600);
    expect(await look(database)).toMatchObject({ taken: 1, rescued: 0, lost: 0 });
    expect(await readRow(database, id)).toMatchObject({ state: "queued", generation: 0, rescues: 0 });
    expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(durations.lostAfter, -1);
  });

  test("is no proof for itself: while the consumer is down nothing is rescued", async () => {
    const rows = [await overdue(7200), await overdue(3600), await overdue(1800)];
    await passTime(database.sql, 6 * 3600);
    expect(await look(database)).toMatchObject({ taken: 3, rescued: 0 });
    for (const id of rows) expect((await readRow(database, id)).generation).toBe(0);
  });

  test("a neighbour that was cancelled, or whose evidence came, proves nothing", async () => {
    const id = await overdue(600);
    await newRow(database, "delivered", queuedAgo(60));
    await newRow(database, "cancelled", queuedAgo(60));
    const stale = await newRow(database, "queued", { generation: "1", ...queuedAgo(60) });
    expect(await receive(database, stale, { generation: 0 })).toEqual({ verdict: "stale" });
    await passTime(database.sql, longAgo);
    await look(database);
    expect(await readRow(database, id)).toMatchObject({ state: "queued", rescues: 0 });
  });

  test("is published again, under its next generation, when the queue is empty (16)", async () => {
    const id = await overdue(60);
    expect(await look(database, { queued: "lost" })).toMatchObject({ taken: 1, rescued: 1 });
    expect(await readRow(database, id)).toMatchObject({
      state: "pending",
      generation: 1,
      rescues: 1,
      resends: 0,
      lease_token: 1,
    });
    expect((await take(database)).leased).toMatchObject([{ id, generation: 1, token: 2 }]);
  });

  test("waits for the next sweep when the queue says empty for the first time", async () => {
    const id = await overdue(60);
    const before = await readRow(database, id);
    expect((await look(database, { queued: "skip" })).taken).toBe(0);
    expect(await readRow(database, id)).toEqual(before);
  });

  test("after three rescues it is dead, for a person, and a message that turns up late still delivers it", async () => {
    const id = await newRow(database, "queued", { ...due, rescues: "3", generation: "3" });
    expect(await look(database, { queued: "lost" })).toMatchObject({ taken: 1, rescued: 0, lost: 1 });
    expect(await readRow(database, id)).toMatchObject({
      state: "dead",
      owed_at: null,
      died_at: null,
      stopped_at: expect.any(Date),
      generation: 3,
      rescues: 3,
      reason: expect.stringMatching(/^lost:/),
    });
    expect(await readTries(database, id)).toEqual(["lost"]);
    expect(
      await receive(database, id, { generation: 3, messageId: randomUUID(), sentAt: Date.now() - 3_600_000 }),
    ).toMatchObject({ verdict: "claimed" });
  });

  test("is every queued row at once, when a person says that the queue has lost its messages", async () => {
    const queued = [await newRow(database, "queued"), await newRow(database, "queued")];
    const others = [
      await newRow(database, "sending"),
      await newRow(database, "unknown"),
      await newRow(database, "held"),
    ];
    const before = await Promise.all(others.map((id) => readRow(database, id)));
    expect(await lookAtQueued(database.ledger)).toBe(2);
    expect(await look(database, { queued: "lost" })).toMatchObject({ taken: 2, rescued: 2 });
    for (const id of queued)
      expect(await readRow(database, id)).toMatchObject({ state: "pending", generation: 1 });
    expect(await Promise.all(others.map((id) => readRow(database, id)))).toEqual(before);
  });

  test("that is not overdue is left alone, whatever the queue says", async () => {
    await newRow(database, "queued");
    expect((await look(database, { queued: "lost" })).taken).toBe(0);
  });
});
