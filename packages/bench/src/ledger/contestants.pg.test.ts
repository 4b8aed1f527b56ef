import { Ledger, proveDelivery } from "@owed/ledger";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { setUpOptions } from "../database/ledger-database.ts";
import { type Arena, contestants } from "./contestants.ts";

let database: TestDatabase;
let arena: Arena;
beforeAll(async () => {
  database = await createDatabase();
  const { options } = database;
  const postgres = { ...inject("cluster"), database: options.database };
  arena = { options, setUp: new Ledger(setUpOptions(options)), postgres };
});
afterAll(async () => {
  await arena.setUp.close();
  await database.drop();
});

const { batches, coalesced, pgBossTuned, graphileTuned } = contestants;

test.each([batches, coalesced])("$name: every row is delivered, once", async (owed) => {
  const { delivered } = await proveDelivery(database.ledger);
  await owed.fill(arena, 123);
  expect(await owed.work(arena, 123)).toMatchObject({ rows: 123 });
  expect(await proveDelivery(database.ledger)).toMatchObject({ delivered: delivered + 123, unfinished: 0 });
});

test.each([pgBossTuned, graphileTuned])("$name: every job is worked on", async (peer) => {
  await peer.fill(arena, 30);
  expect(await peer.work(arena, 30)).toMatchObject({ rows: 30, seconds: expect.any(Number) });
});
