import type { Ledger } from "../connect/ledger.ts";

/** Why a notification is no longer to be sent; `by`: what made it so, such as `event E-9` or `suppression 17`. */
export type Moot = { reason: string; by: string };

/** Of these notifications, those that are no longer to be sent, with the reason: what a claim or a replay would say now. */
export async function readMoot(ledger: Ledger, ids: readonly string[]): Promise<Map<string, string>> {
  const moot = await explainMoot(ledger, ids);
  return new Map([...moot].map(([id, { reason }]) => [id, reason]));
}

/** The same, and what made each of them so. */
export async function explainMoot(ledger: Ledger, ids: readonly string[]): Promise<Map<string, Moot>> {
  if (ids.length === 0) return new Map();
  const rows = await ledger.run(
    (sql) => sql<(Moot & { id: string })[]>`
      SELECT given.id, moot.reason, moot.by FROM unnest(${ids.toSorted()}::uuid[]) AS given (id)
      CROSS JOIN LATERAL (SELECT still.reason, still.by FROM owed.moot AS still WHERE still.id = given.id OFFSET 0) AS moot
      WHERE moot.reason IS NOT NULL`,
    { repeatable: true },
  );
  return new Map(rows.map(({ id, reason, by }) => [id, { reason, by }]));
}
