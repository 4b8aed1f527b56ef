import { fileURLToPath } from "node:url";
import { Ledger, migrate } from "@owed/ledger";
import { type LedgerDatabase, setUpOptions } from "./ledger-database.ts";

const migrations = fileURLToPath(new URL("../../../../migrations", import.meta.url));

/** Another ledger on the same server, to be measured by turns with the first one; it ends with the server. */
export async function withSecondDatabase<T>(
  { postgres, options, setUp }: LedgerDatabase,
  work: (second: LedgerDatabase) => Promise<T>,
): Promise<T> {
  await setUp.run((sql) => sql`CREATE DATABASE owed_beside`, { repeatable: false });
  const beside = { ...options, database: "owed_beside" };
  await migrate({ ...beside, deadline: 60 }, migrations);
  const second = { postgres, options: beside, setUp: new Ledger(setUpOptions(beside)) };
  try {
    return await work(second);
  } finally {
    await second.setUp.close();
  }
}
