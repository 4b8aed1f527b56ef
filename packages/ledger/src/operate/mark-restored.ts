import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";
import type { Act } from "./refusal.ts";

/**
 * The ledger was put back from a backup, and has forgotten what was sent since: every unfinished row that has been due
 * may have been sent, so its outcome is unknown. The provider's events that are still on their way prove some; after
 * the grace the others are resent, each counted as a possible duplicate, or held for a person, as their rules say.
 * What is dead stays so, and its replay is counted as one.
 * Returns how many rows that are. Run it while sweeps and workers stand still, after events since the backup have
 * been recorded again; once more, it changes only what is due by then.
 */
export async function markRestored(ledger: Ledger, durations: Durations, act: Act): Promise<number> {
  const rows = await ledger.run(
    (sql) => sql`
      WITH doubtful AS (
        UPDATE owed.notification SET state = 'unknown', owed_at = now() + make_interval(secs => ${durations.grace}),
          -- Above every token that a worker may still hold from the time that the ledger has forgotten.
          lease_token = lease_token + 1000,
          reason = 'restored: the ledger was put back from a backup'
        WHERE state IN ('leased', 'queued', 'sending') OR (state = 'pending' AND mode IS NULL AND (due_at <= now() OR generation > 0))
        RETURNING id, generation, reason
      ), told AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, actor, reason)
        SELECT id, 'unknown', generation, ${act.actor}, reason || ': ' || ${act.why}::text FROM doubtful
      ), anew AS (
        -- What the queue said then proves nothing now, and evidence that waits is to be heard before any resend.
        UPDATE owed.heartbeat SET queue_empty_since = NULL, beating_since = now(), restored_at = now(), holder = NULL, held_until = NULL
      )
      SELECT FROM doubtful`,
    { repeatable: false },
  );
  return rows.length;
}
