import type { Ledger } from "../connect/ledger.ts";

/** The ids of all delivered notifications: to compare with a mailbox in drills and tests. */
export async function listDelivered(ledger: Ledger): Promise<string[]> {
  const rows = await ledger.run(
    (sql) => sql<{ id: string }[]>`SELECT id FROM owed.notification WHERE state = 'delivered'`,
    { repeatable: true },
  );
  return rows.map((row) => row.id);
}
