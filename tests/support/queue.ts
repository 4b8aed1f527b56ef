import { randomUUID } from "node:crypto";
import {
  ChangeMessageVisibilityBatchCommand,
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { askQueue } from "@owed/functions/ask-queue";
import type { Cloud, DeliverEvent } from "./cloud.ts";
import { eventually } from "./eventually.ts";

type Queues = Pick<Cloud, "client">;

/** How many messages a queue holds, those in flight among them. */
export async function depth({ client }: Queues, queueUrl: string): Promise<number> {
  return (await askQueue(client, queueUrl)).total;
}

/** A message that means nothing ends the long poll of a consumer that is being stopped, a second early. */
export async function wake(client: SQSClient, QueueUrl: string): Promise<void> {
  const id = randomUUID();
  const fifo = QueueUrl.endsWith(".fifo") ? { MessageGroupId: id, MessageDeduplicationId: id } : {};
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}", ...fifo }));
}

/** The bodies of the messages that wait in a queue, at most ten; they stay there. */
export async function peek({ client }: Queues, queueUrl: string): Promise<unknown[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 }),
  );
  return Messages.map(({ Body = "" }) => JSON.parse(Body));
}

export type Published = {
  /** The deduplication ids of the messages that SQS answered as accepted, in their order, repeated ones too. */
  ids: string[];
  /** How many entries each call had. */
  batches: number[];
};

/** Looks on while sweeps publish to the notification queue. */
export function watchPublishes({ sqs }: Pick<Cloud, "sqs">): Published {
  const published: Published = { ids: [], batches: [] };
  sqs.faults.observe(({ action, queueName, request, response }) => {
    if (action !== "SendMessageBatch" || queueName !== "notification.fifo") return;
    const entries = objects(request.Entries);
    const accepted = new Set(objects(response.Successful).map((entry) => entry.Id));
    published.batches.push(entries.length);
    for (const entry of entries)
      if (accepted.has(entry.Id)) published.ids.push(String(entry.MessageDeduplicationId));
  });
  return published;
}

export type Waits = {
  /** The visibility timeouts that consumers asked for, in seconds, in their order. */
  seconds: number[];
  /** Lets the time pass that messages wait for their next receive: they are visible at once. */
  pass(): Promise<void>;
};

/** Looks on while consumers of a queue give messages back; with `hurried` no message waits for its next receive. */
export function watchWaits(
  { sqs, client, queues }: Pick<Cloud, "sqs" | "client" | "queues">,
  name: "notification" | "event" | "feedback",
  { hurried = false } = {},
): Waits {
  const { url } = queues[name];
  const seconds: number[] = [];
  const seen = new Set<unknown>();
  let waiting: string[] = [];
  const pass = async () => {
    const handles = waiting;
    waiting = [];
    for (let from = 0; from < handles.length; from += 10) {
      const Entries = handles
        .slice(from, from + 10)
        .map((ReceiptHandle, place) => ({ Id: String(place), ReceiptHandle, VisibilityTimeout: 0 }));
      await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
    }
  };
  sqs.faults.observe(({ action, queueName, request }) => {
    if (action !== "ChangeMessageVisibilityBatch" || !url.endsWith(`/${queueName}`)) return;
    // The messages that are hurried here come by as well.
    const given = objects(request.Entries).filter((entry) => !seen.has(entry.ReceiptHandle));
    for (const { ReceiptHandle, VisibilityTimeout } of given) {
      seconds.push(Number(VisibilityTimeout));
      seen.add(ReceiptHandle);
      waiting.push(String(ReceiptHandle));
    }
    if (hurried && given.length > 0) void pass();
  });
  return { seconds, pass };
}

/** Redrives a dead-letter queue as the AWS console does; resolves when every message is moved. */
export async function redrive({ client, queues }: Pick<Cloud, "client" | "queues">): Promise<void> {
  const SourceArn = queues.notification.deadLetters.arn;
  await client.send(new StartMessageMoveTaskCommand({ SourceArn }));
  await eventually(async () => {
    const { Results = [] } = await client.send(new ListMessageMoveTasksCommand({ SourceArn }));
    if (Results[0]?.Status !== "COMPLETED") throw new Error(`the redrive is ${Results[0]?.Status}`);
  });
}

export type Handed = {
  id: string;
  generation: number;
  group?: string;
  messageId?: string;
  receives?: number;
  /** Instead of what a sweep writes. */
  body?: string;
};

/** An event as Lambda hands it to deliver: several messages of one group in a batch, which the local queue never does. */
export const eventOf = (messages: readonly Handed[]): DeliverEvent => ({
  Records: messages.map(({ id, generation, group = id, messageId = randomUUID(), receives = 1, body }) => ({
    messageId,
    receiptHandle: `handle-${messageId}`,
    body: body ?? JSON.stringify({ id, generation }),
    attributes: {
      ApproximateReceiveCount: String(receives),
      SentTimestamp: String(Date.now()),
      SenderId: "sweep",
      ApproximateFirstReceiveTimestamp: String(Date.now()),
      MessageGroupId: group,
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:notification.fifo",
    awsRegion: "us-east-1",
  })),
});

const objects = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : []);
