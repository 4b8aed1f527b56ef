import { isLocked } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";
import type { Role } from "../states.ts";

/** One message of a batch, as the queue handed it over. */
export type Message = {
  id: string;
  generation: number;
  /** The SQS message id. */
  messageId: string;
  /** SentTimestamp, in milliseconds since the epoch, by SQS's clock. */
  sentAt: number;
};

/** What the worker needs to send; read at the claim, so that a corrected address counts. */
export type Claimed = {
  verdict: "claimed";
  token: number;
  /** Its rows are sent in order: the recipient's of one shipment, by one channel. */
  group: string;
  channel: string;
  template: string;
  role: Role;
  address: string | null;
  name: string | null;
  locale: string;
  timeZone: string | null;
  shipment: { id: string; trackingNumber: string; status: string; occurredAt: Date };
  merchant: { id: string; name: string; trackingUrl: string | null };
  /** Messages a second that the channel's provider takes; null: no limit is known. */
  rate: number | null;
  /** Calls to the provider have failed since it last answered. */
  failures: number;
};

/** What the ledger says to a message that is not to be sent. */
export type Unclaimed = {
  verdict:
    | "gone" // there is no such row
    | "stale" // a later generation is on its way, or the row is not due yet and the message no sweep's
    | "busy" // somebody keeps the row locked: not looked at
    | "held" // another worker is on it
    | "unknown" // its worker vanished: the row waits for evidence now
    | "done" // delivered, cancelled, or unknown: nothing to send
    | "cancelled" // no longer true: cancelled by this look
    | "deferred" // its channel is closed: back in the ledger until it opens
    | "sibling" // dead by another message, sent before it died
    | "dying"; // this very message killed it: on its way to the dead-letter queue
};

export type Verdict = Claimed | Unclaimed;

type Row = {
  place: number;
  did: Exclude<Verdict["verdict"], "claimed" | "cancelled" | "deferred"> | "claim" | "cancel" | "defer";
  token: number | null;
  group: string;
  channel: string;
  template: string;
  role: Role;
  address: string | null;
  name: string | null;
  locale: string;
  time_zone: string | null;
  shipment_id: string;
  tracking_number: string;
  status: string;
  occurred_at: Date;
  merchant_id: string;
  merchant_name: string;
  tracking_url: string | null;
  rate: number | null;
  failures: number;
};

/**
 * Claims a batch's rows in one statement: writes the intent to send before any provider is called (transition
 * 4), and answers each message by the table in docs/states.md, in the order given. Rows are locked in their
 * ids' order. When a row comes twice in a batch, its first message that may claim it does. A row that somebody
 * keeps locked for too long is left out as `busy`, and holds back none of the others.
 */
export async function claim(
  ledger: Ledger,
  durations: Durations,
  messages: readonly Message[],
): Promise<Verdict[]> {
  if (messages.length === 0) return [];
  try {
    return await claimRows(ledger, durations, messages, false);
  } catch (error) {
    if (!isLocked(error)) throw error;
    return claimRows(ledger, durations, messages, true);
  }
}

async function claimRows(
  ledger: Ledger,
  durations: Durations,
  messages: readonly Message[],
  skipLocked: boolean,
): Promise<Verdict[]> {
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
            ELSE 'claim'
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
          owed_at = CASE did
            -- Left where it is unless it would come due during the send: an index entry saved for each delivery.
            WHEN 'claim' THEN greatest(n.owed_at, now() + make_interval(secs => ${durations.sendLease}))
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
        RETURNING first.place, did, n.id, n.lease_token, n.channel, n.event_key, n.subscriber_id, n.rule_id, n.queued_at,
          n.generation, first.message_id
      ), marked AS (
        INSERT INTO owed.claim_mark (minute, queued_at)
        -- A worker that was faster than the mark proves as much: its row was queued after it was leased.
        SELECT date_trunc('minute', now(), 'UTC'),
          max(coalesce(moved.queued_at, row.leased_until - make_interval(secs => ${durations.lease})))
        FROM moved JOIN row USING (id) WHERE did = 'claim'
        HAVING max(coalesce(moved.queued_at, row.leased_until)) IS NOT NULL
        ON CONFLICT DO NOTHING
      ), told AS (
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
      SELECT first.place::int, first.did, moved.lease_token AS token, moved.subscriber_id AS group, moved.channel, r.template, s.role, s.address, s.name, s.locale,
        coalesce(s.time_zone, m.time_zone) AS time_zone,
        sh.id AS shipment_id, sh.tracking_number, e.status, e.occurred_at, m.id AS merchant_id, m.name AS merchant_name, m.tracking_url,
        c.rate, c.failures
      FROM first
      LEFT JOIN moved ON moved.place = first.place AND moved.did = 'claim'
      LEFT JOIN owed.event e ON e.key = moved.event_key
      LEFT JOIN owed.subscriber s ON s.id = moved.subscriber_id
      LEFT JOIN owed.rule r ON r.id = moved.rule_id
      LEFT JOIN owed.shipment sh ON sh.id = e.shipment_id
      LEFT JOIN owed.merchant m ON m.id = sh.merchant_id
      LEFT JOIN owed.channel c ON c.name = moved.channel
      ORDER BY first.place`,
    // Answer lost: the rows may be claimed. Whoever meets them after the send lease makes them unknown.
    { repeatable: false },
  );
  return rows.map(verdictOf);
}

function verdictOf(row: Row): Verdict {
  if (row.did === "cancel") return { verdict: "cancelled" };
  if (row.did === "defer") return { verdict: "deferred" };
  if (row.did !== "claim") return { verdict: row.did };
  if (row.token === null)
    throw new Error(`claim ${row.place} has no token: the ledger's statement is broken`);
  return {
    verdict: "claimed",
    token: row.token,
    group: row.group,
    channel: row.channel,
    template: row.template,
    role: row.role,
    address: row.address,
    name: row.name,
    locale: row.locale,
    timeZone: row.time_zone,
    shipment: {
      id: row.shipment_id,
      trackingNumber: row.tracking_number,
      status: row.status,
      occurredAt: row.occurred_at,
    },
    merchant: { id: row.merchant_id, name: row.merchant_name, trackingUrl: row.tracking_url },
    rate: row.rate,
    failures: row.failures,
  };
}
