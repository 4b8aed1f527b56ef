import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { readChannel, shut } from "../testing/channel.ts";
import { empty } from "../testing/rows.ts";
import { recordLimits } from "./record-limits.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

test.each([
  ["is used up still", { quota: 1000, used: 1000 }],
  ["is not told any more", { quota: null, used: 0 }],
])("what a quota has closed for longer stays closed when it %s", async (_, limits) => {
  await shut(database, 3600, { reason: "quota" });
  expect(await recordLimits(database.ledger, "email", { rate: 14, ...limits }, 300)).toBe(true);
  const { closed, closed_for } = await readChannel(database);
  expect(closed).toBeCloseTo(3600, -2);
  expect(closed_for).toBe("quota");
});
