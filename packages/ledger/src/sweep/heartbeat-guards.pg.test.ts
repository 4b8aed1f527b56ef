import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { defaultDurations as durations } from "../durations.ts";
import { race } from "../testing/race.ts";
import { empty } from "../testing/rows.ts";
import { abandonSweep } from "./abandon-sweep.ts";
import { beginSweep } from "./begin-sweep.ts";
import { finishSweep } from "./finish-sweep.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const none = { leased: 0, published: 0, failed: 0, cancelled: 0, rescued: 0, unknown: 0, resent: 0 };
const begin = () => beginSweep(database.ledger, durations);
async function beginTaken(): Promise<string> {
  const beginning = await begin();
  if (!beginning.taken) throw new Error(`not taken: ${beginning.why}`);
  return beginning.run;
}

test("of two sweeps that begin at once one has the heartbeat, and one run is kept", async () => {
  const beginnings = await race(database, "SELECT FROM owed.heartbeat FOR UPDATE", [begin, begin]);
  expect(beginnings).toMatchObject([{ taken: true }, { taken: false, why: "held" }]);
  expect(await database.sql`SELECT FROM owed.sweep_run`).toHaveLength(1);
});

test("a sweep that outlived its time finishes its own run, and leaves the heartbeat to the one after it", async () => {
  const late = await beginTaken();
  await passTime(database.sql, durations.heartbeat);
  const next = await beginTaken();
  await finishSweep(database.ledger, durations, late, { ...none, leased: 7 }, null);
  expect(
    await database.sql`SELECT id, leased, finished_at IS NOT NULL AS finished FROM owed.sweep_run ORDER BY id`,
  ).toEqual([
    { id: late, leased: 7, finished: true },
    { id: next, leased: null, finished: false },
  ]);
  await abandonSweep(database.ledger, late);
  expect(await database.sql`SELECT holder FROM owed.heartbeat`).toEqual([{ holder: next }]);
});
