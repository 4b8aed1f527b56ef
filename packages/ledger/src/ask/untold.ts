import type { Ledger } from "../connect/ledger.ts";
import type { Role } from "../states.ts";
import type { Question } from "./audit.ts";

/** A role that an event was told nothing of by a channel. */
export type Untold = {
  eventId: string;
  status: string;
  role: Role;
  channel: string;
  /** No rule counted when it was recorded, or a silent one; nobody was subscribed, or only afterwards. */
  why: "no_rule" | "silent" | "nobody" | "later";
};

/**
 * Whom a shipment's events told nothing, of those who are subscribed and those whom a rule would have told, by the rules
 * that counted when each event was recorded. With a recipient: of that one, by the roles that it has.
 */
export async function listUntold(ledger: Ledger, { shipmentId, recipientId }: Question): Promise<Untold[]> {
  return ledger.run(
    (sql) => sql<Untold[]>`
      WITH event AS (
        SELECT e.key, e.id, e.status, e.occurred_at, e.recorded_at, sh.merchant_id
        FROM owed.event e JOIN owed.shipment sh ON sh.id = e.shipment_id WHERE sh.id = ${shipmentId}
      ), watcher AS (
        SELECT id, role, channel, created_at FROM owed.subscriber
        WHERE shipment_id = ${shipmentId} AND (${recipientId ?? null}::text IS NULL OR recipient_id = ${recipientId ?? null}::text)
      ), counted AS (
        -- What a new ledger begins with counted before rules had a time.
        SELECT e.key, r.merchant_id, r.role, r.channel, r.silent
        FROM event e JOIN owed.rule r ON r.status = e.status AND (r.merchant_id IS NULL OR r.merchant_id = e.merchant_id)
          AND (r.set_at <= e.recorded_at OR r.version = 1 AND r.set_by = 'owed') AND coalesce(r.retired_at > e.recorded_at, true)
      ), rule AS (
        SELECT key, role, channel, bool_and(silent) AS silent FROM counted c
        WHERE merchant_id IS NOT NULL OR NOT EXISTS (
          SELECT FROM counted own WHERE own.merchant_id IS NOT NULL AND (own.key, own.role, own.channel) = (c.key, c.role, c.channel))
        GROUP BY 1, 2, 3
      ), place AS (
        SELECT e.key, w.role, w.channel FROM event e CROSS JOIN watcher w
        UNION
        SELECT key, role, channel FROM rule
        WHERE NOT silent AND (${recipientId ?? null}::text IS NULL OR role IN (SELECT role FROM watcher))
      ), judged AS (
        SELECT e.id, e.status, e.occurred_at, p.role, p.channel,
          CASE WHEN r.silent THEN 'silent'
            WHEN r.key IS NULL THEN 'no_rule'
            WHEN w.first IS NULL THEN 'nobody'
            WHEN w.first > e.recorded_at THEN 'later' END AS why
        FROM place p
        JOIN event e USING (key)
        LEFT JOIN rule r ON (r.key, r.role, r.channel) = (p.key, p.role, p.channel)
        CROSS JOIN LATERAL (
          SELECT min(created_at) AS first FROM watcher WHERE (watcher.role, watcher.channel) = (p.role, p.channel)) AS w
        WHERE NOT EXISTS (
          -- OFFSET 0: a short range of the primary key for each event, whatever the statistics say.
          SELECT FROM (
            SELECT subscriber_id FROM owed.notification_ever
            WHERE id > e.key AND id <= owed.notification_id(e.key, 65535) OFFSET 0) AS n
          JOIN watcher ON watcher.id = n.subscriber_id
          WHERE (watcher.role, watcher.channel) = (p.role, p.channel))
      )
      SELECT id AS "eventId", status, role, channel, why FROM judged
      WHERE why IS NOT NULL ORDER BY role, channel, why, occurred_at, id`,
    { repeatable: true },
  );
}
