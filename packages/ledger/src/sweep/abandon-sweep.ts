import type { Ledger } from "../connect/ledger.ts";

/**
 * Gives the heartbeat back after a sweep that failed, so that the next beat need not wait for it to run out. The
 * run's row keeps no `finished_at`: a failed sweep must not look like a heartbeat.
 */
export async function abandonSweep(ledger: Ledger, run: string): Promise<void> {
  await ledger.run(
    (sql) => sql`UPDATE owed.heartbeat SET holder = NULL, held_until = NULL WHERE holder = ${run}`,
    { repeatable: true },
  );
}
