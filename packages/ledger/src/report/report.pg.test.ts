import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { defaultDurations as durations } from "../durations.ts";
import { pause } from "../operate/pause.ts";
import { resume } from "../operate/resume.ts";
import { beginSweep } from "../sweep/begin-sweep.ts";
import { passDays, retainAll, startRound } from "../testing/retention.ts";
import { type Columns, empty, newRow, type Shape } from "../testing/rows.ts";
import { type Outage, reportOutages } from "./report.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  await empty(database);
  await database.sql`TRUNCATE owed.notification_archive, owed.pause`;
});
afterAll(() => database.drop());

/** Sweeps each minute, from so many minutes ago to so many. */
const beat = (from: number, to: number, { finished = true, owed = 0 } = {}) => database.sql`
  INSERT INTO owed.sweep_run (started_at, finished_at, oldest_owed_s)
  SELECT at, CASE WHEN ${finished} THEN at + interval '1 second' END, ${owed}
  FROM generate_series(now() - make_interval(mins => ${from}), now() - make_interval(mins => ${to}), interval '1 minute') AS at`;
const ago = (minutes: number) => `now() - interval '${minutes} minutes'`;
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

const asked = { since: null, until: null, gap: 180, merchant: null };
const report = (
  options: Partial<typeof asked> | { since: string; until?: string } | { merchant: string } = {},
) => reportOutages(database.ledger, { ...asked, ...options });
async function only(): Promise<Outage> {
  const { outages } = await report();
  const [outage, ...more] = outages;
  if (!outage || more.length > 0) throw new Error(`${outages.length} outages`);
  return outage;
}
const minutes = ({ seconds }: { seconds: number }) => Math.round(seconds / 60);

describe("gaps", () => {
  test("none, while the schedule beats; three missing beats are one", async () => {
    await beat(240, 0);
    expect(await report()).toEqual({ outages: [], more: false, addsUp: true, nothingOwed: true });
    await database.sql`DELETE FROM owed.sweep_run WHERE started_at BETWEEN now() - interval '102.5 minutes' AND now() - interval '100.5 minutes'`;
    expect((await report()).outages).toEqual([]);
    await database.sql`DELETE FROM owed.sweep_run WHERE started_at BETWEEN now() - interval '103.5 minutes' AND now() - interval '102.5 minutes'`;
    expect((await report()).outages.map(minutes)).toEqual([4]);
  });

  test("two, the newest first, the last of them open", async () => {
    await beat(300, 200);
    await beat(130, 20);
    const { outages } = await report();
    expect(outages.map((outage) => [minutes(outage), outage.to === null, outage.recovery])).toEqual([
      [20, true, null],
      [70, false, null],
    ]);
  });

  test("of a window: what reaches into it is told whole", async () => {
    await beat(300, 200);
    await beat(130, 20);
    expect((await report({ since: inHours(-1) })).outages.map(minutes)).toEqual([20]);
    expect((await report({ since: inHours(-2.5), until: inHours(-1) })).outages.map(minutes)).toEqual([70]);
    expect((await report({ since: inHours(-5), until: inHours(-4) })).outages).toEqual([]);
  });

  test("sweeps that failed are no beats, and are counted; the one that is running is not", async () => {
    await beat(100, 60);
    await beat(59, 11, { finished: false });
    await beat(10, 1);
    await beginSweep(database.ledger, durations);
    expect(await only()).toMatchObject({ seconds: expect.closeTo(2999, 0), failed: 49, pauses: [] });
  });

  test("where no sweep ever came to its end: since the schedule was set up", async () => {
    await database.sql`UPDATE owed.heartbeat SET beating_since = now() - interval '30 minutes'`;
    await beat(20, 10, { finished: false });
    expect(await only()).toMatchObject({ to: null, seconds: expect.closeTo(1800, 0), failed: 11 });
  });

  test("who paused, and why", async () => {
    await beat(100, 60);
    await pause(database.ledger, "ana", "maintenance");
    await resume(database.ledger, { actor: "ana", why: null });
    await database.sql`UPDATE owed.pause SET paused_at = now() - interval '59 minutes'`;
    await pause(database.ledger, "ben", null);
    expect((await only()).pauses).toEqual([
      { at: expect.any(Date), by: "ana", why: "maintenance", resumedAt: expect.any(Date) },
      { at: expect.any(Date), by: "ben", why: null, resumedAt: null },
    ]);
  });
});

describe("what became of what was owed in an outage of 70 minutes", () => {
  beforeEach(async () => {
    await beat(240, 100, { owed: 14_400 });
    await beat(30, 0);
  });
  const owed = (shape: Shape, columns: Columns = {}, due = 60) =>
    newRow(database, shape, { due_at: ago(due), ...columns });
  const sentAgo = (sent: number): Columns => ({ delivered_at: ago(sent) });
  const cancelled = (reason: string, at = 25) =>
    owed("cancelled", { reason: `'${reason}'`, cancelled_at: ago(at) });

  test("each is counted once, by how it ended, and the sum adds up", async () => {
    await owed("delivered", sentAgo(28));
    await owed("delivered", sentAgo(20), 90);
    await owed("delivered", { delivered_at: "now() - interval '59 minutes 30 seconds'" });
    for (const reason of [
      "expired",
      "expired",
      "superseded",
      "opted_out",
      "suppressed",
      "erased",
      "cancelled: by ana",
    ])
      await cancelled(reason);
    await owed("dead", { reason: "'refused: no such mailbox'" });
    await owed("lost");
    const open = [
      await owed("pending"),
      await owed("queued"),
      await owed("sending"),
      await owed("unknown"),
      await owed("held"),
    ];
    const outage = await only();
    expect(outage).toMatchObject({
      ...{ addsUp: true, nothingOwed: false, seconds: expect.closeTo(4199, 0) },
      all: {
        ...{
          due: 17,
          sent: 3,
          expired: 2,
          superseded: 1,
          optedOut: 1,
          suppressed: 1,
          erased: 1,
          cancelled: 1,
          dead: 2,
        },
        ...{ stillOwed: 5, lateByMinutes: 2 },
        late: { p50: expect.closeTo(1920, 0), max: expect.closeTo(4200, 0) },
      },
      deadFor: [
        { reason: "lost", rows: 1 },
        { reason: "refused", rows: 1 },
      ],
      oldSender: { due: 0 },
      recovery: expect.closeTo(600, 0),
    });
    expect(outage.channels).toEqual([{ channel: "email", ...outage.all }]);
    expect(outage.stillOwed.map(({ id }) => id).toSorted()).toEqual(open.toSorted());
  });

  test("also what waited when it began; not what had ended by then, and not what fell due later", async () => {
    await owed("delivered", sentAgo(101), 110);
    await owed("cancelled", { cancelled_at: ago(200), reason: "'superseded'" });
    await owed("delivered", sentAgo(5), 20);
    const waited = [
      await owed("delivered", sentAgo(25), 110),
      // As long before as the last sweep said, or as it is still owed.
      await owed("delivered", sentAgo(25), 320),
      await owed("pending", {}, 10_000),
      await owed("held", {}, 10_000),
    ];
    const outage = await only();
    expect(outage.all).toMatchObject({ due: waited.length, sent: 2, stillOwed: 2 });
  });

  test("possible and certain duplicates, and outcomes that were not known at some time", async () => {
    const id = await owed("delivered", sentAgo(10));
    await database.sql`
      INSERT INTO owed.attempt (notification_id, kind, generation, provider_message_id)
      VALUES (${id}, 'unknown', 0, NULL), (${id}, 'resent', 1, NULL), (${id}, 'unknown', 1, NULL), (${id}, 'duplicate', 1, 'P-2')`;
    expect((await only()).all).toMatchObject({ due: 1, sent: 1, unknown: 1, perhapsTwice: 1, twice: 1 });
  });

  test("the old sender's are counted apart; so are another merchant's left out", async () => {
    await owed("delivered", { ...sentAgo(50), mode: "'shadow'" } as Columns);
    await owed("pending", { mode: "'old'", owed_at: "'infinity'" } as Columns);
    await owed("delivered", sentAgo(10));
    expect(await only()).toMatchObject({
      ...{ all: { due: 1, sent: 1 }, nothingOwed: true, addsUp: true },
      oldSender: { due: 2, sent: 1, cancelled: 0, dead: 0, waiting: 1 },
    });
    const { outages } = await report({ merchant: "M-2" });
    expect(outages).toMatchObject([{ all: { due: 0 }, oldSender: { due: 0 } }]);
    expect((await report({ merchant: "M-1" })).outages).toMatchObject([
      { all: { due: 1 }, oldSender: { due: 2 } },
    ]);
  });

  test("an end that the report does not know is no end: the sum does not add up, and it says so", async () => {
    await cancelled("because");
    expect(await report()).toMatchObject({ addsUp: false, outages: [{ addsUp: false, all: { due: 1 } }] });
  });

  test("minute by minute: what fell due and was sent is all in it, and what is owed goes back to nothing", async () => {
    for (const due of [98, 60, 31]) await owed("delivered", sentAgo(27), due);
    await owed("cancelled", { cancelled_at: ago(26), reason: "'expired'" }, 120);
    const { series, from } = await only();
    expect(series.step).toBe(60);
    const sum = (of: "due" | "sent") => series.points.reduce((total, point) => total + point[of], 0);
    expect([sum("due"), sum("sent")]).toEqual([4, 3]);
    expect(series.points[0]?.at).toEqual(from);
    const owedThen = series.points.map(({ owed: rows }) => rows);
    expect(owedThen.filter((rows, place) => rows !== owedThen[place - 1])).toEqual([1, 2, 3, 4, 1, 0]);
  });

  test("archived or not, it answers the same", async () => {
    for (const due of [99, 60, 31]) await owed("delivered", sentAgo(27), due);
    await cancelled("superseded");
    await passDays(database, 91);
    await startRound(database);
    const since = inHours(-24 * 100);
    const until = inHours(-24 * 91 - 0.25);
    const before = await report({ since, until });
    expect(before.outages).toMatchObject([{ all: { due: 4, sent: 3 } }]);
    expect((await retainAll(database)).moved).toBe(4);
    expect(await report({ since, until })).toEqual(before);
  });
});
