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

test("a ledger that is put back from a backup loses nothing, and what it sends again is counted", {
  timeout: 3_600_000,
}, async () => {
  expectAllReached(await hunt(database, anyHistory({ "back up": 6, restore: 4 }), long ? 280 : 170));
});
