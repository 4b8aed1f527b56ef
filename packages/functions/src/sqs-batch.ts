import { ChangeMessageVisibilityBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSRecord } from "aws-lambda";

/** What happens to a message when its batch is done. */
export type Disposal =
  | { acknowledge: true }
  /** It comes again after so many seconds; null: after the queue's visibility timeout. */
  | { acknowledge: false; visibility: number | null };

export const acknowledge: Disposal = { acknowledge: true };
export const failAfter = (visibility: number | null): Disposal => ({ acknowledge: false, visibility });

/** How often SQS has handed this message out, this time included. */
export const receiveCount = (record: SQSRecord): number => Number(record.attributes.ApproximateReceiveCount);

/**
 * Seconds until an event is tried again while the database is away: soon after a short outage, and never more than
 * a minute, since whoever decides about a resend waits for no more than the ledger's settle time until the evidence
 * that hides in the queue has come again. The event and the feedback queue allow for a thousand receives: sixteen
 * hours of it.
 */
export const waitForLedger = (receives: number): number => [10, 30][receives - 1] ?? 60;

/**
 * Sets the visibility of the failed messages and builds the partial batch response of AWS Lambda's
 * ReportBatchItemFailures. A visibility that can't be set costs time alone: the message comes back after the
 * queue's own timeout.
 */
export async function respond(
  sqs: SQSClient,
  queueUrl: string,
  disposals: ReadonlyMap<SQSRecord, Disposal>,
  onError: (error: unknown) => void,
): Promise<SQSBatchResponse> {
  const failed = [...disposals].flatMap(([record, disposal]) =>
    disposal.acknowledge ? [] : [{ record, visibility: disposal.visibility }],
  );
  const changed = failed.flatMap(({ record, visibility }, place) =>
    visibility === null
      ? []
      : [
          {
            Id: String(place),
            ReceiptHandle: record.receiptHandle,
            VisibilityTimeout: Math.round(visibility),
          },
        ],
  );
  for (let from = 0; from < changed.length; from += 10) {
    const Entries = changed.slice(from, from + 10);
    try {
      const { Failed = [] } = await sqs.send(
        new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }),
      );
      for (const { Code, Message } of Failed) onError(new Error(`${Code}: ${Message ?? "no reason given"}`));
    } catch (error) {
      onError(error);
    }
  }
  return { batchItemFailures: failed.map(({ record }) => ({ itemIdentifier: record.messageId })) };
}
