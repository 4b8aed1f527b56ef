import type { Ledger } from "../connect/ledger.ts";
import type { Role } from "../states.ts";

/** What somebody can say of a notification: whose it is, where it went, or how its provider calls it. */
export type NotifiedQuestion = {
  by: "recipient" | "address" | "message";
  /** A recipient's id; an email address, a telephone number or a URL, as people write it; a provider's message id. */
  value: string;
  /** Recipients at most, 1000 at the very most. */
  most: number;
};

/** A shipment's recipient that may be meant. */
export type Notified = {
  shipmentId: string;
  merchantId: string;
  merchantName: string;
  recipientId: string;
  role: Role;
  /** By which the recipient is told, in the order of their names. */
  channels: string[];
  /** How many the ledger has for this recipient, archived ones too, and when the last of them is due. */
  notifications: number;
  lastDueAt: Date | null;
  /** The newest one with that message id; null when asked by anything else, or when the ledger has no row for it. */
  notificationId: string | null;
};

/**
 * Whom a support agent may mean, the newest subscription first. An address is compared as suppressions are: case and
 * spaces do not matter; who had it before is among them where those who have it now leave room. A message id is also looked for among duplicates,
 * in the archive, and in what the old sender said. Empty when nobody is meant.
 */
export async function findNotified(
  ledger: Ledger,
  { by, value, most }: NotifiedQuestion,
): Promise<Notified[]> {
  return ledger.run(
    (sql) => sql<Notified[]>`
      WITH found AS (
        SELECT s.shipment_id, s.recipient_id, max(s.id) AS newest,
          (array_agg(meant.notification_id ORDER BY meant.notification_id DESC NULLS LAST))[1] AS notification_id
        FROM owed.find_notified(${by}, ${value.trim()}, ${Math.min(most, 1000)}) AS meant
        JOIN owed.subscriber s ON s.id = meant.subscriber_id
        GROUP BY 1, 2 ORDER BY newest DESC LIMIT ${Math.min(most, 1000)}
      )
      SELECT found.shipment_id AS "shipmentId", sh.merchant_id AS "merchantId", m.name AS "merchantName",
        found.recipient_id AS "recipientId", own.role, own.channels, told.number AS notifications, told.last AS "lastDueAt",
        found.notification_id AS "notificationId"
      FROM found
      JOIN owed.shipment sh ON sh.id = found.shipment_id
      JOIN owed.merchant m ON m.id = sh.merchant_id
      CROSS JOIN LATERAL (
        SELECT max(s.role) AS role, json_agg(s.channel ORDER BY s.channel) AS channels, array_agg(s.id) AS ids
        FROM owed.subscriber s WHERE s.shipment_id = found.shipment_id AND s.recipient_id = found.recipient_id) AS own
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS number, max(n.due_at) AS last
        FROM owed.event e
        -- OFFSET 0: a short range of the primary key for each event, whatever the statistics say.
        CROSS JOIN LATERAL (
          SELECT due_at, subscriber_id FROM owed.notification_ever
          WHERE id > e.key AND id <= owed.notification_id(e.key, 65535) OFFSET 0) AS n
        WHERE e.shipment_id = found.shipment_id AND n.subscriber_id = ANY (own.ids)) AS told
      ORDER BY found.newest DESC`,
    { repeatable: true },
  );
}
