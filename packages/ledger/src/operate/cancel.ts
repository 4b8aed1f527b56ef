import type { Ledger } from "../connect/ledger.ts";
import { type Act, refusal } from "./refusal.ts";

/**
 * Cancels a notification that is no longer wanted (transition 18). One that a worker is sending, or whose
 * outcome is being waited for, can't be: throws `NotAllowed`, as for one that has ended.
 */
export async function cancel(ledger: Ledger, id: string, act: Act): Promise<void> {
  const rows = await ledger.run(
    (sql) => sql`
      WITH cancelled AS (
        UPDATE owed.notification SET state = 'cancelled', cancelled_at = clock_timestamp(), owed_at = NULL, died_at = NULL, stopped_at = NULL,
          cancelled_by = ${`operator ${act.actor}`}, reason = ${`cancelled: ${act.why}`}
        WHERE id = ${id} AND (state IN ('pending', 'leased', 'queued', 'dead') OR (state = 'unknown' AND owed_at IS NULL))
        RETURNING id, generation
      ), told AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, actor, reason)
        SELECT id, 'cancelled', generation, ${act.actor}, ${act.why} FROM cancelled
      )
      SELECT FROM cancelled`,
    { repeatable: false },
  );
  if (rows.length === 0)
    throw await refusal(ledger, id, "cancelled", "it is being sent, awaits evidence, or has ended");
}
