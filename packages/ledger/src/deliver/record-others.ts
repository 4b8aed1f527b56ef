import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";
import { inIdOrder } from "../in-id-order.ts";
import type { Result } from "./record.ts";

/**
 * Records the outcomes that are no acceptances (transitions 7, 8, 10, 11, 12 and 22), each fenced by its token. Returns
 * the ids of which the ledger does not say what they say, acceptances among them.
 */
export async function recordOthers(
  ledger: Ledger,
  durations: Durations,
  results: readonly Result[],
): Promise<Set<string>> {
  if (results.length === 0) return new Set();
  const inOrder = inIdOrder(results);
  const outcomes = inOrder.map((result) => result.outcome);
  const rows = await ledger.run(
    (sql) => sql<{ id: string }[]>`
      WITH outcome AS (
        SELECT *, CASE kind WHEN 'accepted' THEN 'delivered' WHEN 'refused' THEN 'dead' WHEN 'exhausted' THEN 'dead'
            WHEN 'transient' THEN 'queued' WHEN 'unknown' THEN 'unknown' ELSE 'pending' END AS state
        FROM unnest(
          ${inOrder.map((result) => result.id)}::uuid[],
          ${inOrder.map((result) => result.token)}::int[],
          ${outcomes.map((outcome) => outcome.kind)}::text[],
          ${outcomes.map((outcome) => ("reason" in outcome ? outcome.reason : null))}::text[],
          ${outcomes.map((outcome) => ("wait" in outcome ? (outcome.wait ?? null) : null))}::float8[],
          ${outcomes.map((outcome) => ("provider" in outcome ? outcome.providerMessageId : null))}::text[]
        ) AS given (id, token, kind, reason, wait, provider_message_id)
      ), recorded AS (
        UPDATE owed.notification n SET
          state = o.state,
          owed_at = CASE WHEN o.kind IN ('throttled', 'not_called') THEN coalesce(now() + make_interval(secs => o.wait), least(n.due_at, now()))
            WHEN o.kind = 'transient' THEN now() + make_interval(secs => ${durations.lostAfter})
            WHEN o.kind = 'unknown' THEN owed.evidence_until(n.channel, ${durations.grace}) END,
          queued_at = CASE o.kind WHEN 'transient' THEN coalesce(n.queued_at, now()) ELSE n.queued_at END,
          died_at = CASE o.state WHEN 'dead' THEN clock_timestamp() END,
          stopped_at = CASE o.state WHEN 'dead' THEN now() END,
          generation = n.generation + CASE WHEN o.kind IN ('throttled', 'not_called') THEN 1 ELSE 0 END,
          attempts = n.attempts - CASE WHEN o.kind IN ('throttled', 'not_called') THEN 1 ELSE 0 END,
          reason = o.reason
        FROM outcome o
        WHERE n.id = o.id AND n.lease_token = o.token AND n.state = 'sending' AND o.kind <> 'accepted'
        RETURNING n.id, o.kind, n.generation, n.message_id, o.reason
      ), tried AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, message_id, reason)
        SELECT id, CASE kind WHEN 'transient' THEN 'failed' ELSE kind END, generation, message_id, reason
        FROM recorded WHERE kind <> 'not_called'
      )
      SELECT o.id FROM outcome o
      WHERE NOT EXISTS (SELECT FROM recorded WHERE recorded.id = o.id)
        AND NOT EXISTS (
          SELECT FROM owed.notification n
          WHERE n.id = o.id AND n.lease_token = o.token AND n.state = o.state
            AND n.provider_message_id IS NOT DISTINCT FROM o.provider_message_id)`,
    { repeatable: true },
  );
  return new Set(rows.map((row) => row.id));
}
