import type { Ledger } from "../connect/ledger.ts";

/** Pauses the sweeps: what falls due waits in the ledger. Returns false when they already were. */
export async function pause(ledger: Ledger, actor: string, why: string | null): Promise<boolean> {
  const paused = await ledger.run(
    (sql) => sql`
      WITH paused AS (
        UPDATE owed.heartbeat SET paused_at = now(), paused_by = ${actor}, paused_why = ${why} WHERE paused_at IS NULL
        RETURNING paused_at
      )
      INSERT INTO owed.act (actor, did, subject, why) SELECT ${actor}, 'paused', 'sweeps', ${why} FROM paused`,
    { repeatable: false },
  );
  return paused.count === 1;
}
