import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { give } from "../testing/deliveries.ts";
import { oweOneAndQueue } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test("a ledger that answers with an error of its own is nobody's outage: the batch fails with it, and is not sent", async () => {
  const row = await oweOneAndQueue(database);
  await database.sql`DROP VIEW owed.telling CASCADE`;
  await expect(give(database, [row])).rejects.toThrow(/owed\.telling/);
});
