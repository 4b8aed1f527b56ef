import type { Ledger } from "@owed/ledger";
import type { SQSRecord } from "aws-lambda";
import { vi } from "vitest";
import type { TestDatabase } from "../../../../tests/support/database.ts";
import { feedback } from "../feedback/feedback.ts";
import { claimRow, oweOneThatBecame } from "./fates.ts";
import { type RecordOptions, recordOf } from "./records.ts";
import { oweOneAndQueue } from "./rows.ts";
import { sesEvent } from "./ses-events.ts";

export const none = {
  ...{ proven: 0, known: 0, gone: 0, ignored: 0, duplicate: 0 },
  ...{ bounced: 0, complained: 0, suppressed: 0, heard: 0 },
};

/** When SES accepted the email that the events are about, and its message id. */
export const aTime = "2026-03-29T09:30:00.123Z";
const providerMessageId = "P-1";
export const accepted = { kind: "accepted", provider: "ses", providerMessageId } as const;

/** The message with an event about that email. */
export const about = (id: string, more: Record<string, unknown> = {}, options: RecordOptions = {}) =>
  recordOf(
    JSON.stringify(sesEvent(id, { messageId: providerMessageId, timestamp: aTime, ...more })),
    options,
  );

/** Weighs a batch; the disposals in its order. */
export async function weigh(ledger: Ledger, records: SQSRecord[]) {
  const onError = vi.fn();
  const { disposals, counts } = await feedback({ ledger, onError }, records);
  return { counts, onError, disposals: records.map((each) => disposals.get(each)) };
}

/** A row that a worker has claimed. */
export async function aSendingRow(database: TestDatabase): Promise<{ id: string; token: number }> {
  const row = await oweOneAndQueue(database);
  return { id: row.id, token: await claimRow(database, row) };
}

/** A row that was delivered as the email that the events are about. */
export const aDeliveredRow = async (database: TestDatabase): Promise<string> =>
  (await oweOneThatBecame(database, accepted)).id;

export async function deliveredAt(
  { sql }: Pick<TestDatabase, "sql">,
  id: string,
): Promise<string | undefined> {
  const [row] = await sql<{ delivered_at: Date }[]>`
    SELECT delivered_at FROM owed.notification WHERE id = ${id}`;
  return row?.delivered_at.toISOString();
}

type Suppression = { address: string; cause: string; detail: string; id: string };

/** The addresses that are or were out of use, with the notification that led to it. */
export const readSuppressions = ({ sql }: Pick<TestDatabase, "sql">): Promise<Suppression[]> => sql<
  Suppression[]
>`
  SELECT address, cause, detail, notification_id AS id FROM owed.suppression ORDER BY id`;
