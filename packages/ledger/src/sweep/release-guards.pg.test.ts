import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { take } from "../testing/act.ts";
import { newRow, readRow } from "../testing/rows.ts";
import { release } from "./release.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test("a row is given back alone, though its neighbours are leased by tokens of the same number", async () => {
  for (const _ of [1, 2]) await newRow(database);
  const [one, other] = (await take(database)).leased;
  if (!one || !other) throw new Error("two rows were not leased");
  expect(one.token).toBe(other.token);
  const before = await readRow(database, other.id);
  expect(await release(database.ledger, [{ ...one, wait: 90 }])).toBe(1);
  expect(await readRow(database, other.id)).toEqual(before);
});
