import { inIdOrder } from "../in-id-order.ts";
import type { Claimed, Claiming, Message } from "./claim.ts";
import { type ClaimedRow, claimedOf } from "./claimed-row.ts";

/**
 * Claims those rows that are as the sweep left them, or would lease them: of the message's generation, still true, and
 * their channel open (transition 4). Returns them by their messages, of which a row and generation has one at most. The
 * rows are locked in their ids' order.
 */
export async function claimOrdinary(
  { ledger, durations, skipLocked }: Claiming,
  messages: readonly Message[],
): Promise<Map<Message, Claimed>> {
  const inOrder = inIdOrder(messages);
  const ids = inOrder.map((message) => message.id);
  const rows = await ledger.run(
    (sql) => sql<(ClaimedRow & { id: string; generation: number })[]>`
      WITH moved AS (
        UPDATE owed.notification n SET
          state = 'sending',
          -- Left where it is unless it would come due during the send: an index entry saved for each delivery.
          owed_at = greatest(n.owed_at, now() + make_interval(secs => ${durations.sendLease})),
          leased_until = now() + make_interval(secs => ${durations.sendLease}),
          claimed_at = now(),
          lease_token = n.lease_token + 1,
          attempts = n.attempts + 1,
          message_id = message.message_id,
          sent_to = told.address
        FROM unnest(${ids}::uuid[], ${inOrder.map((message) => message.generation)}::int[], ${inOrder.map((message) => message.messageId)}::text[])
          AS message (id, generation, message_id)
        ${
          skipLocked
            ? sql`JOIN (SELECT id FROM owed.notification WHERE id = ANY (${ids}::uuid[]) FOR NO KEY UPDATE SKIP LOCKED) AS free USING (id)`
            : sql``
        }
        JOIN owed.telling AS told ON told.id = message.id AND told.reason IS NULL
        JOIN owed.channel c ON c.name = told.channel AND coalesce(c.closed_until <= now(), true)
        WHERE n.id = message.id AND n.generation = message.generation
          -- One that was never leased is due: no sweep has sent this message, but ours would be no other.
          AND (n.state IN ('leased', 'queued') OR n.state = 'pending' AND n.due_at <= now() AND n.mode IS NULL)
        RETURNING n.id, n.generation, n.lease_token AS token, n.subscriber_id AS group, told.channel, told.template, told.role, told.address,
          told.name, told.locale, told.time_zone, told.shipment_id, told.tracking_number, told.status, told.occurred_at,
          told.merchant_id, told.merchant_name, told.tracking_url, c.rate, c.failures,
          -- A worker that was faster than the mark proves as much: its row was queued after it was leased.
          coalesce(n.queued_at, told.leased_until - make_interval(secs => ${durations.lease})) AS queued_at
      ), marked AS (
        INSERT INTO owed.claim_mark (minute, queued_at)
        SELECT date_trunc('minute', now(), 'UTC'), max(queued_at) FROM moved HAVING max(queued_at) IS NOT NULL
        ON CONFLICT DO NOTHING
      )
      SELECT id, generation, token, "group", channel, template, role, address, name, locale, time_zone, shipment_id, tracking_number, status,
        occurred_at, merchant_id, merchant_name, tracking_url, rate, failures
      FROM moved`,
    // Answer lost: the rows may be claimed. Whoever meets them after the send lease makes them unknown.
    { repeatable: false },
  );
  const byRow = new Map(messages.map((message) => [`${message.id} ${message.generation}`, message]));
  return new Map(
    rows.flatMap((row) => {
      const message = byRow.get(`${row.id} ${row.generation}`);
      return message ? [[message, claimedOf(row)]] : [];
    }),
  );
}
