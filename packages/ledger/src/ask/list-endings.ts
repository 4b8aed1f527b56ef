import type { Ledger } from "../connect/ledger.ts";
import type { State } from "../states.ts";

/** A notification, as far as it takes to judge whether it ended as the rules say. */
export type Ending = {
  id: string;
  subscriberId: string;
  shipmentId: string;
  recipientId: string;
  channel: string;
  template: string;
  eventId: string;
  status: string;
  occurredAt: Date;
  recordedAt: Date;
  /** The shipment's status now. */
  shipmentStatus: string;
  onlyWhileCurrent: boolean;
  newestReplaces: boolean;
  dueAt: Date;
  sendBy: Date | null;
  state: State;
  reason: string | null;
  cancelledBy: string | null;
  claimedAt: Date | null;
  deliveredAt: Date | null;
  cancelledAt: Date | null;
  stoppedAt: Date | null;
  optedOutAt: Date | null;
  /** When the address was first taken out of use. */
  suppressedAt: Date | null;
};

/** All notifications with what became of them, by their ids, after `after`. For drills and tests: it reads them all. */
export async function listEndings(
  ledger: Ledger,
  { after = "00000000-0000-0000-0000-000000000000", limit = 20_000 }: { after?: string; limit?: number } = {},
): Promise<Ending[]> {
  return ledger.run(
    (sql) => sql<Ending[]>`
      SELECT n.id, n.subscriber_id::text AS "subscriberId", e.shipment_id AS "shipmentId", s.recipient_id AS "recipientId",
        n.channel, r.template, e.id AS "eventId", e.status, e.occurred_at AS "occurredAt", e.recorded_at AS "recordedAt",
        sh.status AS "shipmentStatus", r.only_while_current AS "onlyWhileCurrent", r.newest_replaces AS "newestReplaces",
        n.due_at AS "dueAt", n.send_by AS "sendBy", n.state, n.reason, n.cancelled_by AS "cancelledBy",
        n.claimed_at AS "claimedAt", n.delivered_at AS "deliveredAt", n.cancelled_at AS "cancelledAt", n.stopped_at AS "stoppedAt",
        s.opted_out_at AS "optedOutAt",
        (SELECT min(x.suppressed_at) FROM owed.suppression x
         WHERE x.channel = n.channel AND x.address = owed.address_key(s.address)) AS "suppressedAt"
      FROM owed.notification n
      JOIN owed.event e ON e.key = n.event_key
      JOIN owed.shipment sh ON sh.id = e.shipment_id
      JOIN owed.subscriber s ON s.id = n.subscriber_id
      JOIN owed.rule r ON r.id = n.rule_id
      WHERE n.id > ${after}
      ORDER BY n.id LIMIT ${limit}`,
    { repeatable: true },
  );
}
