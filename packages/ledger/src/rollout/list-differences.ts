import type { Ledger } from "../connect/ledger.ts";
import type { State } from "../states.ts";
import type { CompareFilter } from "./compare.ts";

/** One notification of which the two senders did not do the same. */
export type Difference = {
  verdict: "only_new" | "only_old" | "twice";
  /** Null: the ledger has no such row. */
  id: string | null;
  merchant: string;
  shipment: string | null;
  event: string;
  recipient: string;
  channel: string;
  template: string;
  dueAt: Date | null;
  /** When Owed published it in shadow, or why it did not. */
  wouldAt: Date | null;
  moot: string | null;
  /** When Owed really sent it. */
  owedSentAt: Date | null;
  oldClaimedAt: Date | null;
  oldSentAt: Date | null;
  oldSends: number;
  /** Where the row is now, and why it was cancelled, or died. */
  state: State | null;
  reason: string | null;
  /** The old sender is to send it; otherwise Owed is, or was. */
  held: boolean;
  /** The ledger knows the event. */
  heard: boolean;
};

/** The differences, oldest first: what was sent twice, by one of the two alone, or not at all by the old sender. */
export async function listDifferences(
  ledger: Ledger,
  { merchant, since, until }: CompareFilter,
  most: number,
): Promise<Difference[]> {
  return ledger.run(
    (sql) => sql<Difference[]>`
      SELECT verdict, notification_id AS id, merchant_id AS merchant, shipment_id AS shipment, event_id AS event,
        recipient_id AS recipient, row.channel, template, row.due_at AS "dueAt", would_at AS "wouldAt", moot,
        owed_sent_at AS "owedSentAt", row.old_claimed_at AS "oldClaimedAt", old_sent_at AS "oldSentAt", old_sends AS "oldSends",
        n.state, n.reason, n.mode IS NOT NULL AS held, heard
      FROM owed.compared(${merchant}, coalesce(${since}::text::timestamptz, now() - interval '1 day'), coalesce(${until}::text::timestamptz, now())) AS row
      LEFT JOIN owed.notification n ON n.id = row.notification_id
      WHERE verdict IN ('only_new', 'only_old', 'twice')
      ORDER BY coalesce(row.due_at, old_sent_at), notification_id, event_id LIMIT ${most}`,
    { repeatable: true },
  );
}
