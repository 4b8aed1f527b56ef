import type { Ledger } from "../connect/ledger.ts";

/** A row that waits for a person. */
export type Stopped = {
  id: string;
  state: "dead" | "unknown";
  shipmentId: string;
  status: string;
  recipientId: string;
  channel: string;
  template: string;
  stoppedAt: Date;
  attempts: number;
  reason: string;
};

export type StoppedFilter = {
  state?: "dead" | "unknown" | undefined;
  shipmentId?: string | undefined;
  channel?: string | undefined;
  /** The start of the reason, e.g. its code word. */
  reason?: string | undefined;
  limit: number;
};

/** Rows that wait for a person, oldest first: dead, and unknown ones that are held. */
export async function listStopped(ledger: Ledger, filter: StoppedFilter): Promise<Stopped[]> {
  return ledger.run(
    (sql) => sql<Stopped[]>`
      SELECT n.id, n.state, e.shipment_id AS "shipmentId", e.status, s.recipient_id AS "recipientId", n.channel, r.template,
        n.stopped_at AS "stoppedAt", n.attempts, coalesce(n.reason, 'held: its rule leaves an unknown outcome to a person') AS reason
      FROM owed.notification n
      JOIN owed.event e ON e.key = n.event_key
      JOIN owed.subscriber s ON s.id = n.subscriber_id
      JOIN owed.rule r ON r.id = n.rule_id
      WHERE n.stopped_at IS NOT NULL
        AND (${filter.state ?? null}::text IS NULL OR n.state = ${filter.state ?? null}::text)
        AND (${filter.shipmentId ?? null}::text IS NULL OR e.shipment_id = ${filter.shipmentId ?? null}::text)
        AND (${filter.channel ?? null}::text IS NULL OR n.channel = ${filter.channel ?? null}::text)
        AND starts_with(coalesce(n.reason, ''), ${filter.reason ?? ""})
      ORDER BY n.stopped_at, n.id LIMIT ${filter.limit}`,
    { repeatable: true },
  );
}
