import type { Ledger } from "../connect/ledger.ts";

/** How many events the ledger has heard of. For drills and tests. */
export async function countEvents(ledger: Ledger): Promise<number> {
  const [row] = await ledger.run(
    (sql) => sql<{ events: number }[]>`SELECT count(*)::int AS events FROM owed.event`,
    { repeatable: true },
  );
  return row?.events ?? 0;
}
