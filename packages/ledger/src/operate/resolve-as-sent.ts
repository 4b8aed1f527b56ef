import type { Ledger } from "../connect/ledger.ts";
import { type Act, refusal } from "./refusal.ts";

/**
 * A person says that an unknown or dead notification was sent (transition 20): delivered, on the operator's
 * evidence. Throws `NotAllowed` in any other state.
 */
export async function resolveAsSent(ledger: Ledger, id: string, act: Act): Promise<void> {
  const rows = await ledger.run(
    (sql) => sql`
      WITH resolved AS (
        UPDATE owed.notification SET state = 'delivered', delivered_at = clock_timestamp(), evidence = 'operator',
          outcome = 'accepted', owed_at = NULL, died_at = NULL, stopped_at = NULL, reason = NULL
        WHERE id = ${id} AND state IN ('unknown', 'dead')
        RETURNING id, generation
      ), told AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, actor, reason)
        SELECT id, 'resolved', generation, ${act.actor}, ${act.why} FROM resolved
      )
      SELECT FROM resolved`,
    { repeatable: false },
  );
  if (rows.length === 0)
    throw await refusal(ledger, id, "resolved as sent", "only an unknown or dead one is");
}
