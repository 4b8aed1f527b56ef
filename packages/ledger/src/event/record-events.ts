import type { Ledger } from "../connect/ledger.ts";

export type ShipmentEvent = {
  id: string;
  shipmentId: string;
  status: string;
  /** RFC 3339 with its offset, as it came: JavaScript's Date would cut its microseconds. */
  occurredAt: string;
};

export type Recorded =
  | { outcome: "recorded"; notifications: number }
  /** The same event once more: nothing was done. */
  | { outcome: "repeated" }
  | { outcome: "refused"; field: string; reason: string };

type Row = {
  place: number;
  outcome: Recorded["outcome"];
  field: string;
  reason: string;
  notifications: number;
};

/**
 * Records events and fans them out to everyone who watches their shipments, all in one transaction. The
 * answers come in the order of the events. A refused event changes nothing and harms no neighbour.
 * Shipments are locked in their ids' order, so that two batches never wait for each other.
 */
export async function recordEvents(ledger: Ledger, events: readonly ShipmentEvent[]): Promise<Recorded[]> {
  if (events.length === 0) return [];
  const rows = await ledger.run(
    (sql) => sql<Row[]>`
      SELECT e.place::int, r.outcome, r.field, r.reason, r.notifications
      FROM (
        SELECT * FROM unnest(
          ${events.map((event) => event.id)}::text[],
          ${events.map((event) => event.shipmentId)}::text[],
          ${events.map((event) => event.status)}::text[],
          ${events.map((event) => event.occurredAt)}::text[]
        ) WITH ORDINALITY AS given (id, shipment_id, status, occurred_at, place)
        ORDER BY shipment_id, place
      ) AS e,
      LATERAL owed.try_record_event(e.id, e.shipment_id, e.status,
        CASE WHEN pg_input_is_valid(e.occurred_at, 'timestamptz') THEN e.occurred_at::timestamptz END) AS r`,
    { repeatable: true },
  );
  return rows
    .toSorted((a, b) => a.place - b.place)
    .map(({ outcome, field, reason, notifications }) => {
      if (outcome === "recorded") return { outcome, notifications };
      return outcome === "refused" ? { outcome, field, reason } : { outcome };
    });
}
