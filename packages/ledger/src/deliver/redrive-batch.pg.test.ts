import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { Ledger } from "../connect/ledger.ts";
import { defaultDurations as durations } from "../durations.ts";
import { claimAll, message } from "../testing/act.ts";
import { race } from "../testing/race.ts";
import { empty, newRow, readRow } from "../testing/rows.ts";
import { claim } from "./claim.ts";

// Messages that came back from the dead-letter queue, several at a time.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

test("two in a batch: each is claimed with its own token, for its own recipient", async () => {
  const rows = [await newRow(database, "dead"), await newRow(database, "dead")];
  const [first = "", second = ""] = rows;
  await database.sql`UPDATE owed.notification SET lease_token = 40 WHERE id = ${second}`;
  const verdicts = await claim(database.ledger, durations, [message(second), message(first)]);
  const [{ lease_token: token = 0 } = {}] = await database.sql`
    SELECT lease_token FROM owed.notification WHERE id = ${first}`;
  const shipmentOf = async (id: string) => {
    const [row] = await database.sql<{ id: string }[]>`
      SELECT e.shipment_id AS id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key WHERE n.id = ${id}`;
    return row?.id;
  };
  expect(verdicts).toMatchObject([
    { verdict: "claimed", token: 41, shipment: { id: await shipmentOf(second) } },
    { verdict: "claimed", token, shipment: { id: await shipmentOf(first) } },
  ]);
});

test("the same one to two workers at once: one claims it", async () => {
  const id = await newRow(database, "dead");
  const lock = `SELECT FROM owed.notification WHERE id = '${id}' FOR UPDATE`;
  const worker = () => claimAll(database, message(id));
  expect(await race(database, lock, [worker, worker])).toEqual([["claimed"], ["held"]]);
});

test("one that somebody keeps locked is left out, and another one claimed", async () => {
  const [locked, free] = [await newRow(database, "dead"), await newRow(database, "dead")];
  const before = await readRow(database, locked);
  const ledger = new Ledger({ ...database.options, connections: 1, deadline: 1 });
  await database.sql.begin(async (other) => {
    await other`SELECT FROM owed.notification WHERE id = ${locked} FOR UPDATE`;
    const verdicts = await claim(ledger, durations, [message(locked), message(free)]);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(["busy", "claimed"]);
  });
  await ledger.close();
  expect(await readRow(database, locked)).toEqual(before);
});
