import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { empty, newRow } from "../testing/rows.ts";
import { listDeadLettered } from "./dead-lettered.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

test("only rows that a worker tried, and that died within the queue's retention, have a message there", async () => {
  const days = (ago: number) => ({
    died_at: `now() - interval '${ago} days'`,
    stopped_at: `now() - interval '${ago} days'`,
  });
  await newRow(database, "dead", days(15));
  await newRow(database, "dead", { attempts: "0" });
  await newRow(database, "lost", { attempts: "1" });
  await newRow(database, "held");
  const [newer, older] = [await newRow(database, "dead", days(1)), await newRow(database, "dead", days(13))];
  expect((await listDeadLettered(database.ledger, 10)).ids).toEqual([older, newer]);
  expect((await listDeadLettered(database.ledger, 1)).ids).toEqual([older]);
});
