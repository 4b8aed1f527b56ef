import type { Ledger } from "../connect/ledger.ts";

/** Lets the sweeps run again: the next one drains what became due meanwhile. Returns false when they were not paused. */
export async function resume(ledger: Ledger): Promise<boolean> {
  const resumed = await ledger.run(
    (sql) => sql`
      UPDATE owed.heartbeat SET paused_at = NULL, paused_by = NULL, paused_why = NULL WHERE paused_at IS NOT NULL`,
    { repeatable: true },
  );
  return resumed.count === 1;
}
