import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { Ledger, type LedgerOptions } from "./ledger.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const open: Ledger[] = [];
function connect(options: Partial<LedgerOptions> = {}): Ledger {
  const ledger = new Ledger({ ...database.options, connections: 1, ...options });
  open.push(ledger);
  return ledger;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((ledger) => ledger.close()));
});

test("of two statements that lock each other out, both run", async () => {
  const { sql } = database;
  await sql`CREATE TABLE pair AS SELECT n, 0 AS hits FROM generate_series(1, 2) n`;
  const ledger = connect({ connections: 2 });
  let together = () => {};
  const both = new Promise<void>((resolve) => {
    let waiting = 0;
    together = () => {
      waiting += 1;
      if (waiting === 2) resolve();
    };
  });
  const hit = (first: number, second: number) =>
    ledger.run(
      async (run) => {
        await run.begin(async (transaction) => {
          await transaction`UPDATE public.pair SET hits = hits + 1 WHERE n = ${first}`;
          together();
          await both;
          await transaction`UPDATE public.pair SET hits = hits + 1 WHERE n = ${second}`;
        });
      },
      { repeatable: false },
    );
  await Promise.all([hit(1, 2), hit(2, 1)]);
  expect(await sql`SELECT hits FROM pair`).toEqual([{ hits: 2 }, { hits: 2 }]);
});

test("every session is pinned: UTC, a limit for statements and locks, no compiler, a path that its role can't change", async () => {
  const { sql, options } = database;
  await sql.unsafe(`ALTER ROLE ${options.user} IN DATABASE ${options.database} SET search_path = elsewhere`);
  const [settings] = await connect({ deadline: 7 }).run(
    (sql) =>
      sql`SELECT current_setting('TimeZone') AS zone, current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
        current_setting('jit') AS jit, current_setting('search_path') AS path`,
    { repeatable: true },
  );
  expect(settings).toEqual({
    zone: "UTC",
    statement: "7s",
    lock: "3500ms",
    jit: "off",
    path: "pg_catalog, pg_temp",
  });
  await sql.unsafe(`ALTER ROLE ${options.user} IN DATABASE ${options.database} RESET search_path`);
});
