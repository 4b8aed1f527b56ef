import type { SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";
import type { Leased } from "@owed/ledger";

/**
 * The queue's message for a row: its id and generation, no more. The deduplication id comes from the row, never
 * from the attempt, so that SQS swallows what a crashed sweep sends twice; a deliberate re-publish has the next
 * generation in it, since SQS swallows a repeated id for five minutes. The group is the subscriber: one shipment,
 * one recipient, one channel.
 */
export const messageOf = (row: Leased, place: number): SendMessageBatchRequestEntry => ({
  Id: String(place),
  MessageBody: JSON.stringify({ id: row.id, generation: row.generation }),
  MessageGroupId: `subscriber-${row.group}`,
  MessageDeduplicationId: `shipment-notif-${row.id}${row.generation === 0 ? "" : `.${row.generation}`}`,
});
