import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { type LocalSqs, startSqs } from "./start.ts";

/** A queue service of a test's own with the calls that tests make most. */
export interface TestSqs extends LocalSqs {
  readonly client: SQSClient;
  /** A new queue; with `fifo` its name ends so. Returns its URL. */
  queue(attributes?: Record<string, string>): Promise<string>;
  fifo(attributes?: Record<string, string>): Promise<string>;
  arn(url: string): Promise<string>;
  send(url: string, message: Omit<SendMessageCommandInput, "QueueUrl">): Promise<string>;
  batch(url: string, entries: SendMessageBatchRequestEntry[]): Promise<BatchResult>;
  receive(url: string, options?: Partial<ReceiveMessageCommandInput>): Promise<Message[]>;
  remove(url: string, message: Message): Promise<void>;
}

interface BatchResult {
  readonly accepted: (string | undefined)[];
  readonly failed: { id: string | undefined; code: string | undefined }[];
}

export function sqsClient(endpoint: string, region = "us-east-1"): SQSClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return new SQSClient({ endpoint, region, credentials, maxAttempts: 1 });
}

export async function startTestSqs(): Promise<TestSqs> {
  const sqs = await startSqs();
  const client = sqsClient(sqs.endpoint);
  let queues = 0;
  const create = async (QueueName: string, Attributes: Record<string, string>) => {
    const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
    return QueueUrl;
  };
  return {
    ...sqs,
    client,
    queue: (attributes = {}) => create(`queue-${++queues}`, attributes),
    fifo: (attributes = {}) => create(`queue-${++queues}.fifo`, { FifoQueue: "true", ...attributes }),
    async arn(QueueUrl) {
      const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] });
      return (await client.send(asked)).Attributes?.QueueArn ?? "";
    },
    async send(QueueUrl, message) {
      return (await client.send(new SendMessageCommand({ QueueUrl, ...message }))).MessageId ?? "";
    },
    async batch(QueueUrl, Entries) {
      const result = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
      return {
        accepted: (result.Successful ?? []).map(({ Id }) => Id),
        failed: (result.Failed ?? []).map(({ Id, Code }) => ({ id: Id, code: Code })),
      };
    },
    async receive(QueueUrl, options) {
      const asked = { QueueUrl, MaxNumberOfMessages: 10, ...options };
      const command = new ReceiveMessageCommand({ MessageSystemAttributeNames: ["All"], ...asked });
      return (await client.send(command)).Messages ?? [];
    },
    async remove(QueueUrl, { ReceiptHandle }) {
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    },
    async stop() {
      client.destroy();
      await sqs.stop();
    },
  };
}
