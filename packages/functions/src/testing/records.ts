import { randomUUID } from "node:crypto";
import type { SQSRecord } from "aws-lambda";

export type RecordOptions = {
  messageId?: string;
  /** How often the queue has handed it out, this time included. */
  receives?: number;
  group?: string;
  /** Milliseconds since the epoch. */
  sentAt?: number;
};

/** A message as Lambda hands it to a function: made here, since several of one group may come in a batch. */
export function recordOf(body: string, options: RecordOptions = {}): SQSRecord {
  const { messageId = randomUUID(), receives = 1, group, sentAt = Date.now() } = options;
  return {
    messageId,
    receiptHandle: `receipt-of-${messageId}`,
    body,
    attributes: {
      ApproximateReceiveCount: String(receives),
      ApproximateFirstReceiveTimestamp: String(sentAt),
      SenderId: "AIDA",
      SentTimestamp: String(sentAt),
      ...(group !== undefined && { MessageGroupId: group }),
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:queue",
    awsRegion: "us-east-1",
  };
}
