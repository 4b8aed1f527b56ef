import type { Ledger } from "../connect/ledger.ts";

/** The statuses that a shipment can be in. */
export async function listStatuses(ledger: Ledger): Promise<string[]> {
  const rows = await ledger.run(
    (sql) => sql<{ name: string }[]>`SELECT name FROM owed.status ORDER BY name`,
    { repeatable: true },
  );
  return rows.map(({ name }) => name);
}
