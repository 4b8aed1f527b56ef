import type { Ledger } from "../connect/ledger.ts";
import type { Mode, Role } from "../states.ts";

/** What a shipment's notifications depend on, besides their own rows. */
export type Circumstances = {
  merchantId: string;
  /** Who sends for its merchant now. */
  mode: Mode;
  /** In the order in which they occurred. */
  events: { id: string; status: string; occurredAt: Date }[];
  subscribers: { recipientId: string; role: Role; channel: string; optedOutAt: Date | null }[];
  /** Those that were asked for. */
  suppressions: { id: string; cause: "bounced" | "complained" | "opted_out"; at: Date }[];
  /** Rows that wait for the old sender and that it has claimed; when it last did. */
  claims: { id: string; at: Date }[];
};

type Stamped<Item, Key extends keyof Item> = Omit<Item, Key> & Record<Key, string>;
type Row = {
  merchantId: string;
  mode: Mode;
  events: Stamped<Circumstances["events"][number], "occurredAt">[];
  subscribers: (Omit<Circumstances["subscribers"][number], "optedOutAt"> & { optedOutAt: string | null })[];
  suppressions: Stamped<Circumstances["suppressions"][number], "at">[];
  claims: Stamped<Circumstances["claims"][number], "at">[];
};

/** A shipment's circumstances, with suppressions by their ids. Null: the ledger knows no such shipment. */
export async function readCircumstances(
  ledger: Ledger,
  shipmentId: string,
  suppressions: readonly string[],
): Promise<Circumstances | null> {
  const [row] = await ledger.run(
    (sql) => sql<Row[]>`
      SELECT m.id AS "merchantId", m.mode,
        (SELECT coalesce(json_agg(json_build_object('id', id, 'status', status, 'occurredAt', occurred_at)
            ORDER BY occurred_at, id), '[]') FROM owed.event WHERE shipment_id = sh.id) AS events,
        (SELECT coalesce(json_agg(json_build_object('recipientId', recipient_id, 'role', role, 'channel', channel,
            'optedOutAt', opted_out_at) ORDER BY id), '[]') FROM owed.subscriber s WHERE shipment_id = sh.id) AS subscribers,
        (SELECT coalesce(json_agg(json_build_object('id', id::text, 'cause', cause, 'at', suppressed_at)), '[]')
          FROM owed.suppression WHERE id = ANY (${suppressions}::bigint[])) AS suppressions,
        (SELECT coalesce(json_agg(json_build_object('id', n.id, 'at', n.old_claimed_at)), '[]')
          FROM (SELECT key FROM owed.event WHERE shipment_id = sh.id OFFSET 0) AS e
          CROSS JOIN LATERAL (
            SELECT id, old_claimed_at FROM owed.notification
            WHERE id > e.key AND id <= owed.notification_id(e.key, 65535)
              AND owed_at = 'infinity' AND old_claimed_at IS NOT NULL OFFSET 0) AS n) AS claims
      FROM owed.shipment sh JOIN owed.merchant m ON m.id = sh.merchant_id
      WHERE sh.id = ${shipmentId}`,
    { repeatable: true },
  );
  if (!row) return null;
  return {
    ...row,
    events: row.events.map((event) => ({ ...event, occurredAt: new Date(event.occurredAt) })),
    subscribers: row.subscribers.map((one) => ({
      ...one,
      optedOutAt: one.optedOutAt === null ? null : new Date(one.optedOutAt),
    })),
    suppressions: row.suppressions.map((one) => ({ ...one, at: new Date(one.at) })),
    claims: row.claims.map((claim) => ({ ...claim, at: new Date(claim.at) })),
  };
}
