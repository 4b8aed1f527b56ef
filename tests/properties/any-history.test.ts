import { afterAll, beforeAll, test } from "vitest";
import type { TestDatabase } from "../support/database.ts";
import { long } from "../support/long.ts";
import { anyHistory } from "./commands.ts";
import { createHistories } from "./database.ts";
import { expectAllReached, hunt } from "./hunt.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createHistories();
});
afterAll(() => database.drop());

test("whatever crashes, freezes, is lost, repeated or said: nothing owed is lost, and no duplicate uncounted", {
  timeout: 3_600_000,
}, async () => {
  expectAllReached(await hunt(database, anyHistory(), long ? 300 : 170));
});
