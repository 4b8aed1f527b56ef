import type { Ledger } from "../connect/ledger.ts";

/** Of these notifications, those that are no longer to be sent, with the reason: what a claim or a replay would say now. */
export async function readMoot(ledger: Ledger, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await ledger.run(
    (sql) => sql<{ id: string; reason: string }[]>`
      SELECT given.id, moot.reason FROM unnest(${ids.toSorted()}::uuid[]) AS given (id)
      CROSS JOIN LATERAL (SELECT still.reason FROM owed.moot AS still WHERE still.id = given.id OFFSET 0) AS moot
      WHERE moot.reason IS NOT NULL`,
    { repeatable: true },
  );
  return new Map(rows.map(({ id, reason }) => [id, reason]));
}
