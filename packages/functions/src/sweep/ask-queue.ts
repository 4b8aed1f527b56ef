import { GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";

export type Depth = {
  /** Messages that a consumer could receive now. */
  waiting: number;
  /** All of them: waiting, in flight and delayed. */
  total: number;
};

/**
 * How many messages a queue holds. SQS's counts are approximate and may lag by a minute (Amazon SQS API
 * reference, GetQueueAttributes), so nobody concludes from a single look.
 */
export async function askQueue(sqs: SQSClient, queueUrl: string): Promise<Depth> {
  const { Attributes: counts = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: [
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesNotVisible",
        "ApproximateNumberOfMessagesDelayed",
      ],
    }),
  );
  const waiting = Number(counts.ApproximateNumberOfMessages ?? 0);
  const hidden = Number(counts.ApproximateNumberOfMessagesNotVisible ?? 0);
  return { waiting, total: waiting + hidden + Number(counts.ApproximateNumberOfMessagesDelayed ?? 0) };
}
