import { randomUUID } from "node:crypto";
import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { entryOf } from "../sweep/entry.ts";

export type PlainQueue = { sqs: SQSClient; url: string };

/** What SQS takes, and hands out, in one call. */
const batchSize = 10;

/**
 * The queue alone: sends so many messages as large as the product's, each of a group of its own, in batches of ten, while
 * one poller receives ten at a time, as the event source's does, and up to `concurrency` batches are deleted. Returns the
 * seconds until the last one is.
 */
export async function carry(
  queue: PlainQueue,
  messages: number,
  { lanes, concurrency }: { lanes: number; concurrency: number },
): Promise<number> {
  const start = performance.now();
  let unsent = messages;
  const send = async () => {
    while (unsent > 0) {
      const size = Math.min(batchSize, unsent);
      unsent -= size;
      await sendBatch(queue, size);
    }
  };
  await Promise.all([...Array.from({ length: lanes }, send), consume(queue, messages, concurrency)]);
  return (performance.now() - start) / 1000;
}

async function consume(queue: PlainQueue, messages: number, concurrency: number): Promise<void> {
  const running = new Set<Promise<void>>();
  for (let received = 0; received < messages; ) {
    if (running.size >= concurrency) await Promise.race(running);
    const handles = await receive(queue);
    if (handles.length === 0) continue;
    received += handles.length;
    const deleting = deleteBatch(queue, handles).finally(() => running.delete(deleting));
    running.add(deleting);
  }
  await Promise.all(running);
}

async function sendBatch({ sqs, url }: PlainQueue, size: number): Promise<void> {
  const Entries = Array.from({ length: size }, (_, place) => {
    const id = randomUUID();
    return { Id: String(place), ...entryOf({ id, generation: 0, group: id }) };
  });
  const { Successful = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
  if (Successful.length !== size) throw new Error(`the queue took ${Successful.length} of ${size} messages`);
}

async function receive({ sqs, url }: PlainQueue): Promise<(string | undefined)[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      ...{ QueueUrl: url, MaxNumberOfMessages: batchSize, WaitTimeSeconds: 1 },
      ...{ MessageSystemAttributeNames: ["All"], MessageAttributeNames: ["All"] },
    }),
  );
  return Messages.map(({ ReceiptHandle }) => ReceiptHandle);
}

async function deleteBatch(
  { sqs, url }: PlainQueue,
  handles: readonly (string | undefined)[],
): Promise<void> {
  const Entries = handles.map((ReceiptHandle, place) => ({ Id: String(place), ReceiptHandle }));
  const { Failed = [] } = await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
  if (Failed.length > 0) throw new Error(`the queue deleted all but ${Failed.length} of ${handles.length}`);
}
