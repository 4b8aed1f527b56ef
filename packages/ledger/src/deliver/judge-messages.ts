import type { Claiming, Message, Unclaimed, Verdict } from "./claim.ts";
import { type ClaimedRow, claimedOf } from "./claimed-row.ts";

type Did = Exclude<Unclaimed["verdict"], "cancelled" | "deferred"> | "claim" | "cancel" | "defer";

type Row = { place: number; did: Exclude<Did, "claim"> } | ({ place: number; did: "claim" } & ClaimedRow);

/**
 * What the ledger says to messages that are not of ordinary rows, by the table in docs/states.md: most are done with; a
 * row that came back from the dead-letter queue is claimed. The rows are locked in their ids' order. Returns a verdict
 * for each message.
 */
export async function judgeMessages(
  { ledger, durations, skipLocked }: Claiming,
  messages: readonly Message[],
): Promise<Map<Message, Verdict>> {
  const ids = messages.map((message) => message.id);
  const rows = await ledger.run(
    (sql) => sql<Row[]>`
      WITH message AS (
        SELECT * FROM unnest(
          ${ids}::uuid[],
          ${messages.map((message) => message.generation)}::int[],
          ${messages.map((message) => message.messageId)}::text[],
          ${messages.map((message) => new Date(message.sentAt).toISOString())}::timestamptz[]
        ) WITH ORDINALITY AS given (id, generation, message_id, sent_at, place)
      ), row AS MATERIALIZED (
        SELECT id, channel, state, mode, generation, due_at, message_id, died_at, stopped_at, leased_until
        FROM owed.notification WHERE id = ANY(${ids}::uuid[])
        ORDER BY id ${skipLocked ? sql`FOR UPDATE SKIP LOCKED` : sql`FOR UPDATE`}
      ), judged AS (
        SELECT message.place, message.id, message.message_id, moot.reason, moot.by,
          CASE
            WHEN row.id IS NULL THEN CASE
              WHEN EXISTS (SELECT FROM owed.notification WHERE id = message.id) THEN 'busy' ELSE 'gone' END
            WHEN row.generation <> message.generation THEN 'stale'
            -- Never leased: no sweep has sent this message, whoever has.
            WHEN row.state = 'pending' AND (row.due_at > now() OR row.mode IS NOT NULL) THEN 'stale'
            WHEN row.state IN ('unknown', 'delivered', 'cancelled') THEN 'done'
            WHEN row.state = 'sending' THEN CASE WHEN row.leased_until > now() THEN 'held' ELSE 'unknown' END
            WHEN row.state = 'dead' AND row.message_id = message.message_id THEN 'dying'
            WHEN row.state = 'dead' AND row.died_at >= message.sent_at THEN 'sibling'
            WHEN moot.reason IS NOT NULL THEN 'cancel'
            WHEN c.closed_until > now() THEN 'defer'
            WHEN row.state = 'dead' THEN 'claim'
            -- It has become ordinary since the first look.
            ELSE 'busy'
          END AS did
        FROM message LEFT JOIN row USING (id)
        LEFT JOIN owed.channel c ON c.name = row.channel
        LEFT JOIN LATERAL (
          SELECT still.reason, still.by FROM owed.moot AS still
          WHERE still.id = row.id AND row.generation = message.generation AND row.state IN ('pending', 'leased', 'queued', 'dead')
          OFFSET 0
        ) AS moot ON true
      ), first AS MATERIALIZED (
        SELECT place, id, message_id, reason, by,
          CASE WHEN did IN ('claim', 'cancel', 'unknown', 'defer') AND row_number() OVER (PARTITION BY id, did ORDER BY place) > 1
            THEN 'held' ELSE did END AS did
        FROM judged
      ), moved AS (
        UPDATE owed.notification n SET
          state = CASE did WHEN 'claim' THEN 'sending' WHEN 'unknown' THEN 'unknown' WHEN 'defer' THEN 'pending' ELSE 'cancelled' END,
          owed_at = CASE did WHEN 'claim' THEN now() + make_interval(secs => ${durations.sendLease})
            WHEN 'unknown' THEN owed.evidence_until(n.channel, ${durations.grace})
            -- Back to its old place in the line, whenever the channel opens: behind nothing newer, and not as a fresh one.
            WHEN 'defer' THEN least(n.due_at, now()) END,
          leased_until = CASE did WHEN 'claim' THEN now() + make_interval(secs => ${durations.sendLease}) ELSE n.leased_until END,
          claimed_at = CASE did WHEN 'claim' THEN now() ELSE n.claimed_at END,
          died_at = NULL,
          cancelled_at = CASE did WHEN 'cancel' THEN now() END,
          cancelled_by = first.by,
          stopped_at = NULL,
          lease_token = n.lease_token + CASE did WHEN 'claim' THEN 1 ELSE 0 END,
          generation = n.generation + CASE did WHEN 'defer' THEN 1 ELSE 0 END,
          attempts = n.attempts + CASE did WHEN 'claim' THEN 1 ELSE 0 END,
          message_id = CASE did WHEN 'claim' THEN first.message_id ELSE n.message_id END,
          sent_to = CASE did WHEN 'claim' THEN (SELECT address FROM owed.subscriber s WHERE s.id = n.subscriber_id) ELSE n.sent_to END,
          reason = CASE did WHEN 'cancel' THEN first.reason
            WHEN 'unknown' THEN 'no_outcome: the worker vanished before it recorded one' ELSE n.reason END
        FROM first WHERE n.id = first.id AND did IN ('claim', 'cancel', 'unknown', 'defer')
        RETURNING first.place, did, n.id, n.lease_token AS token, n.subscriber_id AS group, n.generation,
          first.message_id
      ), tried AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, message_id, actor, reason)
        SELECT moved.id, CASE did WHEN 'unknown' THEN 'unknown' ELSE 'redriven' END, moved.generation, moved.message_id,
          CASE WHEN did <> 'unknown' THEN 'queue' END,
          CASE did WHEN 'unknown' THEN 'no_outcome: the worker vanished before it recorded one'
            ELSE 'came back from the dead-letter queue' END
        FROM moved JOIN row USING (id) WHERE did = 'unknown' OR (did IN ('claim', 'defer') AND row.state = 'dead')
        UNION ALL
        SELECT id, 'resent', moved.generation, moved.message_id, 'queue',
          'possible duplicate: came back from the queue after the ledger was restored'
        FROM moved JOIN row USING (id)
        WHERE row.state = 'dead' AND did IN ('claim', 'defer') AND row.stopped_at <= (SELECT restored_at FROM owed.heartbeat)
      )
      SELECT first.place::int, first.did, moved.token, moved."group", told.*, c.rate, c.failures
      FROM first
      LEFT JOIN moved ON moved.place = first.place AND moved.did = 'claim'
      LEFT JOIN LATERAL (
        SELECT channel, template, role, address, name, locale, time_zone, shipment_id, tracking_number, status, occurred_at,
          merchant_id, merchant_name, tracking_url
        FROM owed.telling WHERE id = moved.id OFFSET 0) AS told ON true
      LEFT JOIN owed.channel c ON c.name = told.channel`,
    // Answer lost: the rows may be claimed. Whoever meets them after the send lease makes them unknown.
    { repeatable: false },
  );
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  return new Map(
    messages.flatMap((message, place) => {
      const row = byPlace.get(place + 1);
      return row ? [[message, verdictOf(row)]] : [];
    }),
  );
}

function verdictOf(row: Row): Verdict {
  switch (row.did) {
    case "claim":
      return claimedOf(row);
    case "cancel":
      return { verdict: "cancelled" };
    case "defer":
      return { verdict: "deferred" };
    default:
      return { verdict: row.did };
  }
}
