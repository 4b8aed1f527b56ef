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
  // Nobody corrects what the planner is to believe.
  await database.sql`ALTER TABLE owed.notification SET (autovacuum_enabled = off)`;
  await owe(database, 300);
  await database.sql`
    UPDATE owed.notification SET channel = 'sms'
    WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM owed.notification) AS all_rows WHERE n % 2 = 0)`;
});
afterEach(async () => {
  await database.sql.unsafe(`ALTER DATABASE ${name} RESET ALL`);
});
afterAll(() => database.drop());

/**
 * Leases ten rows of one channel and seven of another, through a connection that plans under the settings given: of all,
 * and then of the fresh ones.
 */
async function leaseShares(settings: Record<string, string>) {
  for (const [setting, value] of Object.entries(settings))
    await database.sql.unsafe(`ALTER DATABASE ${name} SET ${setting} = ${value}`);
  const ledger = new Ledger({ ...database.options, connections: 1 });
  const leaseOnce = async (fresh: number | null) => {
    const slice = await take({ ledger }, { shares, fresh });
    const ids = slice.leased.map(({ id }) => id);
    const changed = await database.sql<{ channel: string; rows: number }[]>`
      SELECT channel, count(*)::int AS rows FROM owed.notification WHERE state = 'leased' GROUP BY channel ORDER BY channel`;
    await database.sql`UPDATE owed.notification SET state = 'pending', owed_at = due_at WHERE state = 'leased'`;
    return { taken: slice.taken, changed: [...changed], twice: ids.length - new Set(ids).size };
  };
  try {
    return { all: await leaseOnce(null), fresh: await leaseOnce(3600) };
  } finally {
    await ledger.close();
  }
}

const shares = [
  { channel: "email", most: 10 },
  { channel: "pigeon", most: 5 },
  { channel: "sms", most: 7 },
];
const exact = {
  taken: new Map([
    ["email", { rows: 10, leased: 10 }],
    ["sms", { rows: 7, leased: 7 }],
  ]),
  changed: [
    { channel: "email", rows: 10 },
    { channel: "sms", rows: 7 },
  ],
  twice: 0,
};
const off = (...names: string[]) => Object.fromEntries(names.map((name) => [`enable_${name}`, "off"]));

const believe = (statistics: string) =>
  database.sql.unsafe(`UPDATE pg_class SET ${statistics} WHERE relname LIKE 'notification%'`);

const beliefs = [
  ["never analysed", "reltuples = -1, relpages = 0"],
  ["right", "reltuples = 300, relpages = 10"],
  ["of an empty table", "reltuples = 0, relpages = 1"],
  ["of an enormous table", "reltuples = 1e7, relpages = 1"],
] as const;

describe.each(beliefs)("with statistics %s", (_, statistics) => {
  beforeEach(() => believe(statistics));

  const plans: [string, Record<string, string>][] = [
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
  ];
  test.each(plans)("leases exactly each channel's share: %s", async (_, settings) => {
    expect(await leaseShares(settings)).toEqual({ all: exact, fresh: exact });
  });
});

test("the statement that this guards against does lease more, under the same statistics", async () => {
  await believe("reltuples = 0, relpages = 1");
  const leased = await database.sql`
    UPDATE owed.notification SET state = 'leased', leased_until = now(), owed_at = now() + interval '1 minute'
    WHERE id IN (SELECT id FROM owed.notification WHERE owed_at <= now() ORDER BY owed_at LIMIT 10 FOR UPDATE SKIP LOCKED)`;
  expect(leased.count).toBeGreaterThan(10);
});
