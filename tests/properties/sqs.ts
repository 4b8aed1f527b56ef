import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { Invocation } from "./invocation.ts";
import type { Queue } from "./queue.ts";

/** The queues as a function reaches them. */
export function sqsOf(by: Invocation, queues: readonly Queue[], refusals: () => number): SQSClient {
  const client = {
    send: (command: unknown) =>
      by.through(
        async () => answer(command, queues, command instanceof SendMessageBatchCommand ? refusals() : 0),
        async (call, happened) => {
          if (happened) await call();
          // Nothing was done: of a batch SQS says which entry it refuses, and takes the others.
          else if (command instanceof SendMessageBatchCommand) return answer(command, queues, 1);
          throw new Error("no answer came from SQS");
        },
      ),
  };
  return client as unknown as SQSClient;
}

function answer(command: unknown, queues: readonly Queue[], refused = 0): unknown {
  const queueOf = (url: string | undefined): Queue => {
    const queue = queues.find((one) => one.url === url);
    if (!queue) throw new Error(`there is no queue ${url}`);
    return queue;
  };
  if (command instanceof SendMessageBatchCommand) {
    const { QueueUrl, Entries = [] } = command.input;
    const queue = queueOf(QueueUrl);
    for (const { MessageBody = "", MessageGroupId = "", MessageDeduplicationId = "" } of Entries.slice(
      refused,
    ))
      queue.send(
        { body: () => MessageBody, group: MessageGroupId },
        { deduplicationId: MessageDeduplicationId },
      );
    return {
      Successful: Entries.slice(refused).map(({ Id }) => ({ Id })),
      Failed: Entries.slice(0, refused).map(({ Id }) => ({ Id, Code: "InternalError", SenderFault: false })),
    };
  }
  if (command instanceof ChangeMessageVisibilityBatchCommand) {
    const { QueueUrl, Entries = [] } = command.input;
    for (const { ReceiptHandle = "", VisibilityTimeout = 0 } of Entries)
      queueOf(QueueUrl).setVisibility(ReceiptHandle, VisibilityTimeout);
    return { Failed: [] };
  }
  if (command instanceof GetQueueAttributesCommand) {
    const { waiting, messages } = queueOf(command.input.QueueUrl);
    return {
      Attributes: {
        ApproximateNumberOfMessages: String(waiting),
        ApproximateNumberOfMessagesNotVisible: String(messages.length - waiting),
        ApproximateNumberOfMessagesDelayed: "0",
      },
    };
  }
  throw new Error("SQS has no such command here");
}
