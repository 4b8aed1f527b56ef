import { NotificationNotFound } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { Notification } from "./notification.ts";

/** A try that was not clean, or what a person did. */
export type Attempt = {
  at: Date;
  kind: string;
  generation: number;
  messageId: string | null;
  providerMessageId: string | null;
  actor: string | null;
  reason: string | null;
};

export type History = Notification & { recordedAt: Date; onUnknown: "resend" | "hold"; tries: Attempt[] };

type Row = Omit<History, "tries"> & { tries: (Omit<Attempt, "at"> & { at: string })[] };

/** A notification's whole history, archived or not. Throws `NotificationNotFound`. */
export async function show(ledger: Ledger, id: string): Promise<History> {
  const [row] = await ledger.run(
    (sql) => sql<Row[]>`
      SELECT n.id, n.state, e.shipment_id AS "shipmentId", e.id AS "eventId", e.status, e.occurred_at AS "occurredAt",
        e.recorded_at AS "recordedAt", s.recipient_id AS "recipientId", s.role, n.channel, r.template,
        r.on_unknown AS "onUnknown", n.due_at AS "dueAt", n.send_by AS "sendBy", nullif(n.owed_at, 'infinity') AS "owedAt", n.mode,
        n.queued_at AS "queuedAt", n.claimed_at AS "claimedAt", n.delivered_at AS "deliveredAt", n.cancelled_at AS "cancelledAt",
        n.stopped_at AS "stoppedAt", n.generation, n.attempts, n.rescues, n.resends, n.sent_to AS "sentTo", n.provider,
        n.provider_message_id AS "providerMessageId", n.evidence, n.outcome, n.reason, n.cancelled_by AS "cancelledBy", n.replays,
        (SELECT coalesce(json_agg(json_build_object('at', at, 'kind', kind, 'generation', generation, 'messageId', message_id,
            'providerMessageId', provider_message_id, 'actor', actor, 'reason', reason) ORDER BY a.id), '[]')
          FROM owed.attempt a WHERE a.notification_id = n.id) AS tries
      FROM owed.notification_ever n
      JOIN owed.event e ON e.key = n.event_key
      JOIN owed.subscriber s ON s.id = n.subscriber_id
      JOIN owed.rule r ON r.id = n.rule_id
      WHERE n.id = ${id}`,
    { repeatable: true },
  );
  if (!row) throw new NotificationNotFound(id);
  return { ...row, tries: row.tries.map((attempt) => ({ ...attempt, at: new Date(attempt.at) })) };
}
