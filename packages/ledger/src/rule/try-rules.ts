import type { Ledger } from "../connect/ledger.ts";
import type { Role } from "../states.ts";

/** What an event would owe to one recipient on one channel. */
export type WouldTell = {
  recipientId: string;
  role: Role;
  channel: string;
  template: string;
  ruleId: string;
  version: number;
  /** The default rules', or the merchant's own. */
  ofMerchant: boolean;
  dueAt: Date;
  /** The same, on the clock where the recipient is. */
  dueThere: string;
  timeZone: string;
  sendBy: Date | null;
  /** Why it would be cancelled at once; null: it would be sent. */
  moot: string | null;
  by: string | null;
  /** There is an address to send to. */
  addressed: boolean;
};

export type Trial = { shipmentId: string; status: string; occurredAt: string };

/** Whom an event would tell what, and when, by the very function that fans events out. Changes nothing; null: there is no such shipment. */
export async function tryRules(
  ledger: Ledger,
  { shipmentId, status, occurredAt }: Trial,
): Promise<WouldTell[] | null> {
  const rows = await ledger.run(
    (sql) => sql<(WouldTell & { told: boolean })[]>`
      SELECT told.ordinal IS NOT NULL AS told, s.recipient_id AS "recipientId", s.role, told.channel, r.template, r.id::text AS "ruleId",
        r.version, r.merchant_id IS NOT NULL AS "ofMerchant", told.due_at AS "dueAt",
        to_char(told.due_at AT TIME ZONE zone.name, 'YYYY-MM-DD HH24:MI') AS "dueThere", zone.name AS "timeZone",
        told.send_by AS "sendBy", told.moot, told.by, told.addressed
      FROM owed.shipment sh
      JOIN owed.merchant m ON m.id = sh.merchant_id
      LEFT JOIN LATERAL owed.fan_out(sh.id, ${status}, ${occurredAt}::text::timestamptz,
        -- Of two events of one time the greater id would be the newer one; this one has none yet.
        coalesce(${occurredAt}::text::timestamptz >= sh.status_at, true), now()) AS told ON true
      LEFT JOIN owed.subscriber s ON s.id = told.subscriber_id
      LEFT JOIN owed.rule r ON r.id = told.rule_id
      CROSS JOIN LATERAL (SELECT coalesce(s.time_zone, m.time_zone, 'UTC') AS name) AS zone
      WHERE sh.id = ${shipmentId}
      ORDER BY told.due_at, told.ordinal`,
    { repeatable: true },
  );
  if (rows.length === 0) return null;
  return rows.filter(({ told }) => told).map(({ told: _, ...row }) => row);
}
