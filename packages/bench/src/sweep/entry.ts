import type { SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";

export type Row = { id: string; generation: number; group: string };

/** A message as the product's are, in content and size. */
export const entryOf = ({
  id,
  generation,
  group,
}: Row): Required<
  Pick<SendMessageBatchRequestEntry, "MessageBody" | "MessageGroupId" | "MessageDeduplicationId">
> => ({
  MessageBody: JSON.stringify({ id, generation }),
  MessageGroupId: `subscriber-${group}`,
  MessageDeduplicationId: `shipment-notif-${id}`,
});
