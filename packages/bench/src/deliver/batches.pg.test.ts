import { Ledger, proveDelivery } from "@owed/ledger";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { oweRows } from "../database/fill.ts";
import { setUpOptions } from "../database/ledger-database.ts";
import { receive, rowByRow, together, workOff } from "./batches.ts";

let database: TestDatabase;
let setUp: Ledger;
beforeAll(async () => {
  database = await createDatabase();
  setUp = new Ledger(setUpOptions(database.options));
});
afterAll(async () => {
  await setUp.close();
  await database.drop();
});

test.each([
  ["together", together],
  ["row by row", rowByRow],
])("%s: every message is delivered", async (_, work) => {
  const { delivered } = await proveDelivery(database.ledger);
  await oweRows(setUp, 25);
  const received = await receive(database.options, 25);
  expect(await workOff(database.options, received, { atOnce: 2, work })).toMatchObject({ rows: 25 });
  expect(await proveDelivery(database.ledger)).toMatchObject({ delivered: delivered + 25, unfinished: 0 });
});

test("messages are received only of what is due", async () => {
  await expect(receive(database.options, 1)).rejects.toThrow("only 0 of 1 notifications are due");
});
