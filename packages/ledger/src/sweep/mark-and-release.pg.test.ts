import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { defaultDurations as durations } from "../durations.ts";
import { accepted, claimRow, nothing, recordOne, take } from "../testing/act.ts";
import { empty, newRow, readRow, reshape, type Shape, secondsUntil } from "../testing/rows.ts";
import type { Leased } from "./lease.ts";
import { markQueued } from "./mark-queued.ts";
import { release } from "./release.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

async function leaseOne(): Promise<Leased> {
  await newRow(database);
  const [leased] = (await take(database)).leased;
  if (!leased) throw new Error("nothing was leased");
  return leased;
}
const mark = (...rows: Leased[]) => markQueued(database.ledger, durations, rows);
const releaseAfter = (wait: number, ...rows: Leased[]) =>
  release(
    database.ledger,
    rows.map((row) => ({ ...row, wait })),
  );

describe("mark", () => {
  test("queues leased rows, all in one statement, and looks again when a message is overdue", async () => {
    const rows = [await leaseOne(), await leaseOne(), await leaseOne()];
    expect(await mark(...rows)).toBe(3);
    for (const { id } of rows) {
      expect(await readRow(database, id)).toMatchObject({
        state: "queued",
        lease_token: 1,
        generation: 0,
        attempts: 0,
      });
      expect(await secondsUntil(database, id, "queued_at")).toBeCloseTo(0, 0);
      expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(durations.lostAfter, -1);
    }
  });

  test("run again after a lost answer counts the same rows", async () => {
    const row = await leaseOne();
    expect([await mark(row), await mark(row)]).toEqual([1, 1]);
  });

  test("of nothing asks nothing", async () => {
    expect(await mark()).toBe(0);
  });

  test("L2: changes nothing once a fast worker has claimed the row, or delivered it", async () => {
    const row = await leaseOne();
    const { token } = await claimRow(database, row.id);
    const claimed = await readRow(database, row.id);
    expect(await mark(row)).toBe(0);
    expect(await readRow(database, row.id)).toEqual(claimed);

    await recordOne(database, row.id, token, accepted);
    const delivered = await readRow(database, row.id);
    expect(await mark(row)).toBe(0);
    expect(await readRow(database, row.id)).toEqual(delivered);
  });

  test("changes nothing when another sweep has leased the row meanwhile, and its neighbours are marked", async () => {
    const [lost, kept] = [await leaseOne(), await leaseOne()];
    await mark(kept);
    await passTime(database.sql, durations.lease);
    await take(database);
    const before = await readRow(database, lost.id);
    expect(await mark(lost, kept)).toBe(1);
    expect(await readRow(database, lost.id)).toEqual(before);
  });
});

describe("release", () => {
  test("gives a row back that the queue refused, owed after its own wait; its generation stays", async () => {
    const row = await leaseOne();
    expect(await releaseAfter(90, row)).toBe(1);
    expect(await readRow(database, row.id)).toMatchObject({
      state: "pending",
      lease_token: 1,
      generation: 0,
      attempts: 0,
    });
    expect(await secondsUntil(database, row.id, "owed_at")).toBeCloseTo(90, -1);
    expect(await take(database)).toEqual(nothing);
    await passTime(database.sql, 90);
    expect((await take(database)).leased).toEqual([{ ...row, token: 2 }]);
  });

  test("run again after a lost answer changes nothing", async () => {
    const row = await leaseOne();
    await releaseAfter(5, row);
    const before = await readRow(database, row.id);
    expect(await releaseAfter(5, row)).toBe(0);
    expect(await readRow(database, row.id)).toEqual(before);
  });
});

describe("with an old token, or in another state, neither changes anything", () => {
  const shapes: [Shape, number][] = [
    ["leased", 0],
    ["pending", 1],
    ["queued", 0],
    ["sending", 2],
    ["unknown", 2],
    ["held", 2],
    ["delivered", 2],
    ["dead", 2],
    ["lost", 0],
    ["cancelled", 0],
  ];
  test.each(shapes)("%s, token %d", async (shape, token) => {
    const id = await newRow(database);
    await reshape(database, id, shape);
    const before = await readRow(database, id);
    const row = { id, generation: 0, token, group: "1" };
    expect([await mark(row), await releaseAfter(0, row)]).toEqual([0, 0]);
    expect(await readRow(database, id)).toEqual(before);
  });
});
