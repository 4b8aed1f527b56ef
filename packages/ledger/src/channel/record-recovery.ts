import type { Ledger } from "../connect/ledger.ts";

/**
 * The provider has answered after failures: they are forgotten, and the breaker starts anew. A channel that was closed
 * meanwhile stays so: the answer is older than that. Returns false when there was nothing to forget.
 */
export async function recordRecovery(ledger: Ledger, channel: string): Promise<boolean> {
  const recovered = await ledger.run(
    (sql) => sql`
      UPDATE owed.channel SET failures = 0, openings = 0, closed_at = NULL, closed_until = NULL, closed_for = NULL, closed_why = NULL
      WHERE name = ${channel} AND coalesce(closed_until <= now(), true) AND (failures > 0 OR openings > 0 OR closed_until IS NOT NULL)`,
    { repeatable: true },
  );
  return recovered.count === 1;
}
