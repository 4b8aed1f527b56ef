import { SQSClient } from "@aws-sdk/client-sqs";
import { type Ledger, listRefusedEvents } from "@owed/ledger";
import type { SQSRecord } from "aws-lambda";
import { vi } from "vitest";
import type { TestDatabase } from "../../../../tests/support/database.ts";
import { type Ingest, ingest } from "../ingest/ingest.ts";
import { parseSettings } from "../settings.ts";

/** The counts of a batch in which nothing happened. */
export const nothing = {
  ...{ recorded: 0, repeated: 0, refused: 0, notifications: 0, postponed: 0 },
  ...{ published: 0, failed: 0 },
};

/** What ingest publishes with, where no sweep has beaten: nothing goes into a queue. */
export const withoutQueue = {
  sqs: new SQSClient({ region: "us-east-1" }),
  notificationQueueUrl: "http://none.example/",
  settings: parseSettings({}),
};

/** Hands a batch to ingest; tells what it said of each message, in their order. */
export async function take(
  ledger: Ledger,
  records: SQSRecord[],
  remaining = () => 30,
  queue: Pick<Ingest, "sqs" | "notificationQueueUrl" | "settings"> = withoutQueue,
) {
  const onError = vi.fn();
  const { disposals, counts } = await ingest({ ledger, remaining, onError, ...queue }, records);
  return { counts, onError, disposals: records.map((record) => disposals.get(record)) };
}

/** The events of the ledger, their times to the microsecond. */
export const readEvents = ({ sql }: Pick<TestDatabase, "sql">) => sql<
  { id: string; status: string; at: string }[]
>`
  SELECT id, status, to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') AS at FROM owed.event ORDER BY id`;

/** What was refused and kept, newest first. */
export const readKept = async ({ ledger }: Pick<TestDatabase, "ledger">) =>
  (await listRefusedEvents(ledger, 100)).map(({ field, reason }) => ({ field, reason }));
