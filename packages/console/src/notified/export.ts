import type { Audit } from "@owed/cli/audit/read";
import { auditJson, untoldLines } from "@owed/cli/audit/read";
import type { Notification } from "@owed/ledger";
import { csv } from "./csv.ts";

type Line = {
  answer: string;
  sentence: string;
  eventId: string;
  status: string;
  role: string;
  channel: string;
  notification: Notification | null;
};

/** The page's answers as a table: a line for each notification, and for each role that was told nothing by a channel. */
export function auditCsv(audit: Audit, full: boolean): string {
  const { notifications } = auditJson(audit, full);
  const rows = new Map(notifications.map((row) => [row.id, row]));
  const told = audit.answers.flatMap(({ answer, sentence, notifications: ids }) =>
    ids.flatMap((id): Line[] => {
      const row = rows.get(id);
      return row ? [{ answer, sentence, ...row, notification: row }] : [];
    }),
  );
  const untold = audit.untold.map(
    (one): Line => ({
      ...one,
      answer: "told_nothing",
      sentence: untoldLines({ ...audit, untold: [one] }).join(" "),
      notification: null,
    }),
  );
  return csv(
    columns,
    [...told, ...untold].map((line) => ({ ...line, shipmentId: audit.shipmentId })),
  );
}

const columns: Record<string, (line: Line & { shipmentId: string }) => string | Date | null> = {
  shipment: ({ shipmentId }) => shipmentId,
  event: ({ eventId }) => eventId,
  status: ({ status }) => status,
  occurred: ({ notification }) => notification?.occurredAt ?? null,
  recipient: ({ notification }) => notification?.recipientId ?? null,
  role: ({ role }) => role,
  channel: ({ channel }) => channel,
  answer: ({ answer }) => answer,
  sentence: ({ sentence }) => sentence,
  state: ({ notification }) => notification?.state ?? null,
  due: ({ notification }) => notification?.dueAt ?? null,
  delivered: ({ notification }) => notification?.deliveredAt ?? null,
  evidence: ({ notification }) => notification?.evidence ?? null,
  outcome: ({ notification }) => notification?.outcome ?? null,
  reason: ({ notification }) => notification?.reason ?? null,
  provider: ({ notification }) => notification?.provider ?? null,
  provider_message_id: ({ notification }) => notification?.providerMessageId ?? null,
  sent_to: ({ notification }) => notification?.sentTo ?? null,
  notification: ({ notification }) => notification?.id ?? null,
};

/** A file's name that is one everywhere, whatever a shipment is called. */
export const fileName = ({ shipmentId, recipientId }: Audit, ending: string): string =>
  `${["owed-audit", shipmentId, recipientId ?? ""]
    .map((part) => part.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 60))
    .filter(Boolean)
    .join("_")}.${ending}`;
