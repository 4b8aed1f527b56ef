import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { owe } from "../../../../tests/support/shipment.ts";
import { Ledger } from "../connect/ledger.ts";
import { take } from "../testing/act.ts";

// L3: where the planner joins the slice's subselect again and again, LIMIT 10 has leased 300. Not here.

let database: TestDatabase;
let name: string;
beforeAll(async () => {
  database = await createDatabase();
  name = database.options.database;
  await owe(database, 300);
});
afterEach(async () => {
  await database.sql.unsafe(`ALTER DATABASE ${name} RESET ALL`);
  await database.sql`UPDATE owed.notification SET state = 'pending', owed_at = due_at`;
});
afterAll(() => database.drop());

/** Leases ten rows, through a connection that plans under the settings given. */
async function leaseTen(
  settings: Record<string, string>,
): Promise<{ leased: number; changed: number; twice: number }> {
  for (const [setting, value] of Object.entries(settings))
    await database.sql.unsafe(`ALTER DATABASE ${name} SET ${setting} = ${value}`);
  const ledger = new Ledger({ ...database.options, connections: 1 });
  try {
    const leased = (await take({ ledger }, { limit: 10 })).leased.map(({ id }) => id);
    const [changed] = await database.sql<
      { rows: number }[]
    >`SELECT count(*)::int AS rows FROM owed.notification WHERE state = 'leased'`;
    return {
      leased: leased.length,
      changed: changed?.rows ?? 0,
      twice: leased.length - new Set(leased).size,
    };
  } finally {
    await ledger.close();
  }
}

const exact = { leased: 10, changed: 10, twice: 0 };
const off = (...names: string[]) => Object.fromEntries(names.map((name) => [`enable_${name}`, "off"]));

const believe = (statistics: string) =>
  database.sql.unsafe(`UPDATE pg_class SET ${statistics} WHERE relname LIKE 'notification%'`);

const beliefs = [
  ["never analysed", "reltuples = -1, relpages = 0"],
  ["right", "reltuples = 300, relpages = 10"],
  ["of an empty table", "reltuples = 0, relpages = 1"],
  ["of an enormous table", "reltuples = 1e9, relpages = 1"],
] as const;

describe.each(beliefs)("with statistics %s", (_, statistics) => {
  beforeEach(() => believe(statistics));

  test.each([
    ["as the planner likes it", {}],
    ["with nested loops only", off("hashjoin", "mergejoin")],
    ["with hash joins only", off("nestloop", "mergejoin")],
    ["with merge joins only", off("nestloop", "hashjoin")],
    ["without the index", off("indexscan", "indexonlyscan", "bitmapscan")],
    ["without a sequential scan", off("seqscan")],
    ["without materialising or remembering", off("material", "memoize", "hashjoin", "mergejoin")],
    ["with every generic plan", { plan_cache_mode: "force_generic_plan" }],
    [
      "in parallel",
      { parallel_setup_cost: "0", parallel_tuple_cost: "0", min_parallel_table_scan_size: "0" },
    ],
  ])("leases exactly its limit: %s", async (_, settings: Record<string, string>) => {
    expect(await leaseTen(settings)).toEqual(exact);
  });
});

test("the statement that this guards against does lease more, under the same statistics", async () => {
  await believe("reltuples = 0, relpages = 1");
  const leased = await database.sql`
    UPDATE owed.notification SET state = 'leased', leased_until = now(), owed_at = now() + interval '1 minute'
    WHERE id IN (SELECT id FROM owed.notification WHERE owed_at <= now() ORDER BY owed_at LIMIT 10 FOR UPDATE SKIP LOCKED)`;
  expect(leased.count).toBeGreaterThan(10);
});
