import type { Ledger } from "../connect/ledger.ts";
import type { Notification } from "./notification.ts";

export type Question = {
  shipmentId: string;
  recipientId?: string | undefined;
};

/**
 * Every notification of a shipment, in the order of its events: who was to be told what, and what became of
 * it. Found by the primary keys alone, however long ago it was, in the archive too. Empty when nobody was to be told.
 */
export async function audit(ledger: Ledger, question: Question): Promise<Notification[]> {
  return ledger.run(
    (sql) => sql<Notification[]>`
      SELECT n.id, n.state, e.shipment_id AS "shipmentId", e.id AS "eventId", e.status, e.occurred_at AS "occurredAt",
        s.recipient_id AS "recipientId", s.role, n.channel, r.template, n.due_at AS "dueAt", n.send_by AS "sendBy",
        nullif(n.owed_at, 'infinity') AS "owedAt", n.mode, n.queued_at AS "queuedAt", n.claimed_at AS "claimedAt", n.delivered_at AS "deliveredAt", n.cancelled_at AS "cancelledAt",
        n.stopped_at AS "stoppedAt", n.generation, n.attempts, n.rescues, n.resends, n.sent_to AS "sentTo", n.provider,
        n.provider_message_id AS "providerMessageId", n.evidence, n.outcome, n.reason, n.cancelled_by AS "cancelledBy", n.replays
      FROM owed.event e
      -- OFFSET 0: a short range of the primary key for each event, whatever the statistics say.
      CROSS JOIN LATERAL (
        SELECT * FROM owed.notification_ever
        WHERE id > e.key AND id <= owed.notification_id(e.key, 65535) OFFSET 0) AS n
      JOIN owed.subscriber s ON s.id = n.subscriber_id
      JOIN owed.rule r ON r.id = n.rule_id
      WHERE e.shipment_id = ${question.shipmentId}
        AND (${question.recipientId ?? null}::text IS NULL OR s.recipient_id = ${question.recipientId ?? null}::text)
      ORDER BY e.occurred_at, e.id, n.id`,
    { repeatable: true },
  );
}
