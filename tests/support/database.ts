import { randomUUID } from "node:crypto";
import { Ledger, type LedgerOptions } from "@owed/ledger";
import postgres from "postgres";
import { inject } from "vitest";

export type TestDatabase = {
  options: LedgerOptions;
  ledger: Ledger;
  /** For what a test arranges and asserts; the product's statements run through `ledger`. */
  sql: postgres.Sql;
  drop(): Promise<void>;
};

/** A database of its own, copied from the migrated template. */
export async function createDatabase(): Promise<TestDatabase> {
  const cluster = inject("cluster");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const admin = postgres({ ...cluster, database: "postgres", max: 1, fetch_types: false });
  await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE template_owed`);
  await admin.end();
  const options: LedgerOptions = {
    ...cluster,
    database: name,
    tls: "off",
    applicationName: "test",
    connections: 4,
    deadline: 10,
  };
  const ledger = new Ledger(options);
  const sql = postgres({ ...cluster, database: name, max: 4, onnotice: () => {} });
  return {
    options,
    ledger,
    sql,
    async drop() {
      await ledger.close();
      await sql.end({ timeout: 1 });
      const dropper = postgres({ ...cluster, database: "postgres", max: 1, fetch_types: false });
      await dropper.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
      await dropper.end();
    },
  };
}
