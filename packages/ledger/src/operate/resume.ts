import type { Ledger } from "../connect/ledger.ts";
import type { Said } from "./note-act.ts";

/** Lets the sweeps run again: the next one drains what became due meanwhile. Returns false when they were not paused. */
export async function resume(ledger: Ledger, { actor, why }: Said): Promise<boolean> {
  const resumed = await ledger.run(
    (sql) => sql`
      WITH resumed AS (
        UPDATE owed.heartbeat SET paused_at = NULL, paused_by = NULL, paused_why = NULL WHERE paused_at IS NOT NULL
        RETURNING beat_at
      )
      INSERT INTO owed.act (actor, did, subject, why) SELECT ${actor}, 'resumed', 'sweeps', ${why} FROM resumed`,
    { repeatable: false },
  );
  return resumed.count === 1;
}
