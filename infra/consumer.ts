import type { Permission } from "./function.ts";

/** How many executions of the consumer at once, and whether it gets any messages: it does when not said. */
type ConsumeOptions = { concurrency: number; enabled?: boolean };

/**
 * Lets Lambda poll a queue for a function, in batches of ten that are not waited for. The batch's own answer says which
 * messages are done: without it Lambda deletes those that failed. The cap is the event source's, not the function's
 * reserved concurrency, which would have Lambda receive messages that it can't hand over, until they are dead.
 */
export function consume(
  stage: string,
  queue: sst.aws.Queue,
  consumer: sst.aws.Function,
  { concurrency, enabled = true }: ConsumeOptions,
): void {
  new aws.lambda.EventSourceMapping(`${stage}Source`, {
    eventSourceArn: queue.arn,
    functionName: consumer.arn,
    enabled,
    batchSize: 10,
    maximumBatchingWindowInSeconds: 0,
    functionResponseTypes: ["ReportBatchItemFailures"],
    scalingConfig: { maximumConcurrency: concurrency },
  });
}

/** What a consumer may do with its queue: what Lambda's pollers do in its name, and to set a visibility. */
export const mayConsume = (queue: sst.aws.Queue): Permission => ({
  actions: [
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ChangeMessageVisibility",
  ],
  resources: [queue.arn],
});
