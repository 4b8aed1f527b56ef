import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { owe } from "../../../../tests/support/shipment.ts";
import { originalLoop } from "./original.ts";
import { type StubQueue, startStubQueue } from "./start-stub-queue.ts";
import { sweepAll } from "./sweep-all.ts";

let database: TestDatabase;
let queue: StubQueue;
beforeAll(async () => {
  [database, queue] = await Promise.all([createDatabase(), startStubQueue(0, 16)]);
});
beforeEach(async () => {
  await database.sql`DELETE FROM owed.notification`;
  await owe(database, 25);
});
afterAll(async () => {
  await queue.stop();
  await database.drop();
});

const states = () =>
  database.sql<{ state: string; rows: number }[]>`
    SELECT state, count(*)::int AS rows FROM owed.notification GROUP BY state`;

test("the shipped sweep publishes and marks all that is due", async () => {
  expect(await sweepAll(database.ledger, queue)).toBe(25);
  expect([...(await states())]).toEqual([{ state: "queued", rows: 25 }]);
});

test("the row-by-row loop leaves the same rows in the same state", async () => {
  expect(await originalLoop(database.ledger, queue)).toBe(25);
  expect([...(await states())]).toEqual([{ state: "queued", rows: 25 }]);
});
