import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { owe } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { countStates } from "../testing/rows.ts";
import { countStatements } from "../testing/statements.ts";
import { type Sweeping, startSweeping } from "../testing/sweeps.ts";

const day = 86_400;

let world: Sweeping;
beforeAll(async () => {
  world = await startSweeping();
});
beforeEach(async () => {
  await world.reset();
  const { sql } = world.database;
  await sql`TRUNCATE owed.notification_archive`;
  await sql`UPDATE owed.retention SET next_at = now(), passed = '00000000-0000-0000-0000-000000000000'`;
});
afterAll(() => world.stop());

/** So many notifications that were sent 91 days ago. */
async function oweLongAgo(rows: number): Promise<void> {
  const { database } = world;
  await owe(database, rows);
  await database.sql`
    UPDATE owed.notification SET state = 'delivered', delivered_at = now(), evidence = 'reply', owed_at = NULL`;
  await passTime(database.sql, 91 * day);
}

test("a sweep moves what is over to the archive, in slices, and says how many; the next ones have nothing to do with it", async () => {
  await oweLongAgo(25);
  expect(await world.swept({ sweep: { slice: 10 } })).toMatchObject({ archived: 25, published: 0 });
  expect(await countStates(world.database)).toEqual({});
  expect(await countStatements(world.database, () => world.swept())).toBe(2);
});

test("as many days later as is set, or never", async () => {
  await oweLongAgo(3);
  expect(await world.swept({ retention: { days: null } })).toMatchObject({ archived: 0 });
  await passTime(world.database.sql, 3700);
  expect(await world.swept({ retention: { days: 92 } })).toMatchObject({ archived: 0 });
  await passTime(world.database.sql, day);
  expect(await world.swept({ retention: { days: 92 } })).toMatchObject({ archived: 3 });
});

test("not while something is due that could not be published", async () => {
  await oweLongAgo(3);
  await owe(world.database, 2);
  expect(await world.swept({ sweep: { queued: 1 } })).toMatchObject({ archived: 0, owed: 1 });
  expect(await world.swept()).toMatchObject({ archived: 3, owed: 0 });
});

test("no longer than its budget, and a sweep that could not do it has done its work all the same", async () => {
  await oweLongAgo(3);
  await owe(world.database, 1);
  const { sql } = world.database;
  await sql`ALTER TABLE owed.notification_archive ADD CONSTRAINT full_up CHECK (false)`;
  expect(await world.swept()).toMatchObject({ archived: 0, published: 1, owed: 0 });
  await sql`ALTER TABLE owed.notification_archive DROP CONSTRAINT full_up`;
  expect(world.onError).toHaveBeenCalledExactlyOnceWith(
    "history that is over could not be moved to the archive",
    expect.objectContaining({ message: expect.stringContaining("full_up") }),
  );
  expect(await countStates(world.database)).toEqual({ delivered: 3, queued: 1 });
});
