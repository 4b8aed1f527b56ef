import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { owe } from "../../../../tests/support/shipment.ts";
import { passDays, retainAll, startRound } from "../testing/retention.ts";
import { type Columns, empty, newRow, type Shape } from "../testing/rows.ts";
import { type CoursePoint, readCourse } from "./read-course.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const ago = (seconds: number) => `now() - interval '${seconds} seconds'`;
const due = (seconds: number, shape: Shape = "pending", columns: Columns = {}) =>
  newRow(database, shape, { due_at: ago(seconds), ...columns });
const course = (seconds: number, step = 60) => readCourse(database.ledger, { seconds, step });
const sum = (points: CoursePoint[], of: (point: CoursePoint) => number) =>
  points.reduce((total, point) => total + of(point), 0);
const last = async (seconds = 3600) => (await course(seconds)).points.at(-1);

describe("the points", () => {
  test("of an empty ledger are there, at the step's multiples, the last one now", async () => {
    const { step, points } = await course(600, 30);
    expect(step).toBe(30);
    expect(points.length).toBeGreaterThanOrEqual(21);
    expect(points.length).toBeLessThanOrEqual(22);
    for (const [place, point] of points.entries()) {
      expect(point).toEqual({ at: expect.any(Date), owed: 0, due: 0, sent: 0, late: 0 });
      expect(point.at.getTime() % 30_000).toBe(0);
      expect(point.at.getTime()).toBe((points[0]?.at.getTime() ?? 0) + place * 30_000);
    }
    const [now] = await database.sql<{ at: Date }[]>`SELECT now() AS at`;
    expect((now?.at.getTime() ?? 0) - (points.at(-1)?.at.getTime() ?? 0)).toBeLessThan(35_000);
  });

  test("are a thousand at most: the step is widened by whole steps", async () => {
    const { step, points } = await course(86_400, 60);
    expect(step).toBe(120);
    expect(points.length).toBeLessThanOrEqual(722);
    const most = await course(999 * 7, 7);
    expect(most.step).toBe(7);
    expect(most.points.length).toBeLessThanOrEqual(1000);
    expect((await course(1000 * 7, 7)).step).toBe(14);
  });
});

describe("what is owed", () => {
  test.each<[Shape, Columns?]>([
    ["pending"],
    ["leased"],
    ["queued"],
    ["sending"],
    ["unknown"],
    ["held"],
    ["pending", { owed_at: "now() + interval '3 hours'" }],
  ])("%s is", async (shape, columns = {}) => {
    await due(300, shape, columns);
    expect(await last()).toMatchObject({ owed: 1, late: 1 });
    // However old it is.
    await due(9 * 86_400, shape, columns);
    expect(await last()).toMatchObject({ owed: 2, late: 2 });
    const { points } = await course(600);
    expect(points[0]).toMatchObject({ owed: 1, due: 0, late: 1 });
  });

  test.each<[Shape, Columns]>([
    ["delivered", { delivered_at: ago(60) }],
    ["cancelled", { cancelled_at: ago(60) }],
    ["dead", { stopped_at: ago(60) }],
  ])("%s was, until then", async (shape, ended) => {
    await due(900, shape, ended);
    const { points } = await course(3600, 30);
    expect(points.at(-1)).toMatchObject({ owed: 0, late: 0 });
    expect(sum(points, ({ due }) => due)).toBe(1);
    expect(sum(points, ({ sent }) => sent)).toBe(shape === "delivered" ? 1 : 0);
    expect(points.filter(({ owed }) => owed === 1).length).toBe(28);
    expect(points.filter(({ late }) => late === 1).length).toBe(26);
  });

  test("is not what falls due later, what ended before it was due, or what the old sender has", async () => {
    await due(-300);
    await due(300, "cancelled", { cancelled_at: ago(301) });
    await due(300, "dead", { stopped_at: ago(301) });
    await due(300, "pending", { mode: "'old'", owed_at: "'infinity'" });
    await due(300, "delivered", { mode: "'shadow'", delivered_at: ago(100) });
    const { points } = await course(3600);
    expect(sum(points, ({ due, sent, owed, late }) => due + sent + owed + late)).toBe(0);
  });

  test("late it is after a minute, not before", async () => {
    await due(50);
    expect(await last()).toMatchObject({ owed: 1, late: 0 });
    await due(61);
    expect(await last()).toMatchObject({ owed: 2, late: 1 });
  });

  test("what waited for long before that time is found since the last sweep before it, and what that left behind", async () => {
    const sweep = (minutes: number, { finished = true, oldest = 0 } = {}) => database.sql`
      INSERT INTO owed.sweep_run (started_at, finished_at, oldest_owed_s)
      SELECT now() - make_interval(mins => ${minutes}), CASE WHEN ${finished} THEN now() END, ${oldest}`;
    const found = async () => {
      const { points } = await course(3600);
      expect(sum(points, ({ due }) => due)).toBe(0);
      expect(sum(points, ({ sent }) => sent)).toBe(points[0]?.owed);
      return points[0]?.late;
    };
    for (const hours of [2, 5, 8, 60]) await due(hours * 3600, "delivered", { delivered_at: ago(600) });
    expect(await found()).toBe(1);
    // An outage from then until within the time that is asked about.
    await sweep(6 * 60);
    expect(await found()).toBe(2);
    await sweep(5 * 60, { oldest: 4 * 3600 });
    expect(await found()).toBe(3);
    await sweep(90, { finished: false });
    await sweep(10);
    expect(await found()).toBe(3);
    // Two days before at most.
    await sweep(80, { oldest: 90 * 3600 });
    expect(await found()).toBe(3);
    await sweep(70);
    expect(await found()).toBe(1);
  });
});

test("what is in the archive is read where the time reaches that far", async () => {
  for (let row = 0; row < 3; row += 1) await due(120, "delivered", { delivered_at: ago(60) });
  await passDays(database, 91);
  await startRound(database);
  expect((await retainAll(database)).moved).toBe(3);
  await due(120, "delivered", { delivered_at: ago(60) });
  expect(sum((await course(92 * 86_400, 60)).points, ({ sent }) => sent)).toBe(4);
  expect(sum((await course(86_400, 60)).points, ({ sent }) => sent)).toBe(1);
});

type Case = { due: number; waited: number; end: "delivered" | "cancelled" | "dead" | "open" };

const anyCase: fc.Arbitrary<Case> = fc.record({
  // Seconds ago; nothing that is late just while it is asked, or falls due then.
  due: fc.oneof(fc.integer({ min: 80, max: 9000 }), fc.integer({ min: -900, max: -120 }), fc.constant(10)),
  waited: fc.oneof(fc.integer({ min: -30, max: 200 }), fc.integer({ min: 0, max: 6000 })),
  end: fc.constantFrom("delivered", "cancelled", "dead", "open"),
});

test("whatever happened: each point says what a count of the rows says, and the sums add up", {
  timeout: 60_000,
}, async () => {
  await owe(database, 30);
  const rows = await database.sql<{ id: string }[]>`SELECT id FROM owed.notification ORDER BY id`;
  const anyCases = fc.array(anyCase, { minLength: rows.length, maxLength: rows.length });
  const anyStep = fc.constantFrom(10, 30, 60, 300);
  await fc.assert(
    fc.asyncProperty(anyCases, anyStep, async (cases, step) => {
      const [clock] = await database.sql<{ now: Date }[]>`SELECT clock_timestamp() AS now`;
      const now = clock?.now.getTime() ?? 0;
      const given = cases.map(({ due, waited, end }, place) => {
        const dueAt = now - due * 1000;
        const endedAt = end === "open" || due < waited + 2 ? null : dueAt + waited * 1000;
        return { id: rows[place]?.id ?? "", dueAt, endedAt, end: endedAt === null ? "open" : end };
      });
      await arrange(given);
      const { points } = await course(3600, step);
      const from = points[0]?.at.getTime() ?? 0;
      for (const [place, point] of points.entries()) {
        const at = point.at.getTime();
        const isLast = place === points.length - 1;
        const until = isLast ? now : at + step * 1000;
        const counted = given.filter(
          ({ end, dueAt, endedAt }) => end === "open" || end === "delivered" || (endedAt ?? 0) >= dueAt,
        );
        const within = (time: number | null) => time !== null && time >= at && time < until;
        const open = counted.filter(
          ({ dueAt, endedAt }) =>
            dueAt < until &&
            !(endedAt !== null && Math.max(endedAt, dueAt) < until) &&
            reaches(dueAt, endedAt),
        );
        expect(point).toEqual({
          at: point.at,
          due: counted.filter(({ dueAt }) => within(dueAt)).length,
          sent: counted.filter(({ end, endedAt }) => end === "delivered" && within(endedAt)).length,
          owed: open.length,
          late: open.filter(({ dueAt }) => dueAt + 60_000 < until).length,
        });
        const before = points[place - 1];
        const ended = counted.filter(
          ({ dueAt, endedAt }) => endedAt !== null && within(Math.max(endedAt, dueAt)),
        ).length;
        if (before) expect(point.owed).toBe(before.owed + point.due - ended);
      }
      /** What ended is found by when it was due, as far back as two hours. */
      function reaches(dueAt: number, endedAt: number | null): boolean {
        return endedAt === null || dueAt >= from - 7_200_000;
      }
    }),
    { numRuns: 25, interruptAfterTimeLimit: 20_000 },
  );
});

/** Has the rows be due, and end, at those times. */
async function arrange(
  given: { id: string; dueAt: number; endedAt: number | null; end: string }[],
): Promise<void> {
  await database.sql.begin(async (sql) => {
    await sql`SET LOCAL session_replication_role = replica`;
    await sql`
      UPDATE owed.notification n SET
        state = CASE given.end WHEN 'open' THEN 'pending' ELSE given.end END, due_at = given.due_at,
        owed_at = CASE given.end WHEN 'open' THEN given.due_at END,
        delivered_at = CASE given.end WHEN 'delivered' THEN ended_at END, evidence = CASE given.end WHEN 'delivered' THEN 'reply' END,
        cancelled_at = CASE given.end WHEN 'cancelled' THEN ended_at END,
        stopped_at = CASE given.end WHEN 'dead' THEN ended_at END,
        reason = CASE WHEN given.end IN ('cancelled', 'dead') THEN 'why' END
      FROM (
        SELECT (g->>'id')::uuid AS id, g->>'end' AS end, to_timestamp((g->>'dueAt')::float8 / 1000) AS due_at,
          to_timestamp((g->>'endedAt')::float8 / 1000) AS ended_at
        FROM jsonb_array_elements(${JSON.stringify(given)}::text::jsonb) AS g) AS given
      WHERE n.id = given.id`;
  });
}
