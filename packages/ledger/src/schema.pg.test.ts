import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { describeSchema } from "../../../tests/support/describe-schema.ts";
import { owe } from "../../../tests/support/shipment.ts";
import { Ledger } from "./connect/ledger.ts";
import { claim, type Message } from "./deliver/claim.ts";
import { record } from "./deliver/record.ts";
import { defaultDurations as durations } from "./durations.ts";
import { markQueued } from "./sweep/mark-queued.ts";
import { accepted, take } from "./testing/act.ts";
import { empty } from "./testing/rows.ts";

let database: TestDatabase;
/** One connection, so that its counters are whole. */
let ledger: Ledger;
beforeAll(async () => {
  database = await createDatabase();
  ledger = new Ledger({ ...database.options, connections: 1 });
});
beforeEach(() => empty(database));
afterAll(async () => {
  await ledger.close();
  await database.drop();
});

test("migrations/schema.sql is what the migrations make: 'npm run schema' writes it anew", async () => {
  const committed = await readFile(new URL("../../../migrations/schema.sql", import.meta.url), "utf8");
  expect(committed.replace(/^--.*\n\n/, "")).toBe(await describeSchema(database.sql));
});

/** A clean delivery of so many rows, step by step. */
async function* deliverCleanly(rows: number) {
  await owe(database, rows);
  const { leased } = await take({ ledger });
  yield "lease";
  await markQueued(ledger, durations, leased);
  yield "mark";
  const messages: Message[] = leased.map(({ id, generation }) => ({
    id,
    generation,
    messageId: `M-${id}`,
    sentAt: Date.now(),
  }));
  const verdicts = await claim(ledger, durations, messages);
  yield "claim";
  const results = leased.map(({ id }, place) => {
    const verdict = verdicts[place];
    return { id, token: verdict?.verdict === "claimed" ? verdict.token : 0, outcome: accepted };
  });
  expect((await record(ledger, durations, results)).size).toBe(0);
  yield "record";
}

type Columns = Record<string, unknown>;
const readColumns = async () =>
  (await database.sql<{ row: Columns }[]>`SELECT to_jsonb(n) AS row FROM owed.notification n LIMIT 1`)[0]
    ?.row ?? {};
const changed = (before: Columns, after: Columns) =>
  Object.keys(after).filter((column) => JSON.stringify(before[column]) !== JSON.stringify(after[column]));

/**
 * The indexes of the ledger, each with all columns it depends on: keys, expressions, and predicates. But for the BRIN ones: an
 * update on the same page only adds to the bits of that page.
 */
const readIndexes = () => database.sql<{ name: string; columns: string[] }[]>`
  SELECT i.indexrelid::regclass::text AS name, ARRAY(
    SELECT a.attname FROM pg_attribute a
    WHERE a.attrelid = i.indrelid AND a.attnum > 0 AND (a.attnum = ANY(i.indkey) OR EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refobjid = i.indrelid AND d.refobjsubid = a.attnum))
    ORDER BY 1) AS columns
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am am ON am.oid = c.relam
  WHERE i.indrelid = 'owed.notification'::regclass AND am.amname <> 'brin' ORDER BY 1`;

describe("the cost of a clean delivery", () => {
  test("no index depends on a column that it changes, which would end the updates on the same page, but those of what is owed, or held, and of message ids", async () => {
    const steps = new Map<string, string[]>();
    let before: Columns = {};
    for await (const step of deliverCleanly(1)) {
      const after = await readColumns();
      steps.set(step, changed(before, after));
      before = after;
    }
    const moved = new Set(
      [...steps.entries()].flatMap(([step, columns]) => (step === "lease" ? [] : columns)),
    );
    moved.add("lease_token").add("leased_until");
    expect([...moved]).toEqual(
      expect.arrayContaining([
        "state",
        "owed_at",
        "queued_at",
        "claimed_at",
        "delivered_at",
        "attempts",
        "outcome",
      ]),
    );
    const dependent = (await readIndexes()).filter(({ columns }) =>
      columns.some((column) => moved.has(column)),
    );
    expect(dependent).toEqual([
      { name: "owed.notification_held", columns: ["due_at", "id", "owed_at"] },
      { name: "owed.notification_message", columns: ["provider_message_id"] },
      { name: "owed.notification_owed", columns: ["owed_at"] },
    ]);
    // The claim leaves even those alone, and a message id is written where the row is owed no more.
    expect(steps.get("claim")).not.toContain("owed_at");
    expect(steps.get("claim")).not.toContain("provider_message_id");
    expect(steps.get("record")).toEqual(expect.arrayContaining(["owed_at", "provider_message_id"]));
  });

  test("an index on the state, or one whose predicate names it, would be noticed", async () => {
    await database.sql`CREATE INDEX by_state ON owed.notification (id) WHERE state = 'pending'`;
    const indexes = await readIndexes();
    await database.sql`DROP INDEX owed.by_state`;
    expect(indexes).toContainEqual({ name: "owed.by_state", columns: ["id", "state"] });
  });

  test("the claim is an update on the same page, that no index hears of", async () => {
    const rows = 100;
    const counters = async () => {
      await ledger.run((sql) => sql`SELECT pg_stat_force_next_flush()`, { repeatable: true });
      const [row] = await database.sql<{ updates: number; hot: number }[]>`
        SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relid = 'owed.notification'::regclass`;
      return row ?? { updates: 0, hot: 0 };
    };
    const steps: Record<string, { updates: number; hot: number }> = {};
    let before = await counters();
    for await (const step of deliverCleanly(rows)) {
      const after = await counters();
      steps[step] = { updates: after.updates - before.updates, hot: after.hot - before.hot };
      before = after;
    }
    // About three in four: a row grows by its address and message, and some pages have no room left. Nought
    // when an index names a column that the claim changes.
    expect(steps.claim?.hot).toBeGreaterThan(0);
    expect(Object.values(steps).map(({ updates }) => updates)).toEqual([rows, rows, rows, rows]);
  });

  test("it leaves no row in the history of tries: its whole story is its own row", async () => {
    for await (const _ of deliverCleanly(3));
    expect(await database.sql`SELECT FROM owed.attempt`).toEqual([]);
    expect(
      await database.sql`SELECT DISTINCT state, outcome, attempts, lease_token, evidence FROM owed.notification`,
    ).toEqual([{ state: "delivered", outcome: "accepted", attempts: 1, lease_token: 2, evidence: "reply" }]);
  });
});
