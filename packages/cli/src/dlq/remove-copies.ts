import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";

export type Removal = {
  removed: number;
  /** Messages of other rows that were looked at; they are visible again. */
  others: number;
  /** False when the look ended before the queue did: more copies may be there. */
  complete: boolean;
};

export type Bounds = {
  /** Seconds that looking may take. */
  budget: number;
  /** Other rows' messages that may be hidden at once: SQS limits a queue's messages in flight. */
  hidden: number;
  /** Hears how many were removed so far. */
  report: (removed: number) => void;
};

/** Seconds that a message stays hidden if we vanish; longer than the look, so that none comes twice. */
const visibility = 120;

/**
 * Removes the messages of these rows from a dead-letter queue. SQS can't look for a message: each is received,
 * those of other rows stay hidden until the look has ended, and are visible again at once then. A copy behind
 * another row's message of its group is not seen. What remains is harmless: its generation has passed, and a
 * worker that meets it only acknowledges it.
 */
export async function removeCopies(
  sqs: SQSClient,
  queueUrl: string,
  ids: Iterable<string>,
  { budget = 60, hidden = 10_000, report = () => {} }: Partial<Bounds> = {},
): Promise<Removal> {
  const missing = new Set(ids);
  const wanted = new Set(missing);
  const others: Message[] = [];
  const end = performance.now() + budget * 1000;
  let removed = 0;
  try {
    while (missing.size > 0 && performance.now() < end && others.length < hidden) {
      const { Messages: messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: 10,
          VisibilityTimeout: visibility,
          // An empty answer then comes from all of SQS's servers, not from a sample of them.
          WaitTimeSeconds: 1,
        }),
      );
      if (messages.length === 0) return { removed, others: others.length, complete: true };
      const copies = messages.filter((message) => wanted.has(rowOf(message) ?? ""));
      others.push(...messages.filter((message) => !copies.includes(message)));
      removed += await remove(sqs, queueUrl, copies);
      for (const copy of copies) missing.delete(rowOf(copy) ?? "");
      if (copies.length > 0) report(removed);
    }
    return { removed, others: others.length, complete: missing.size === 0 };
  } finally {
    await putBack(sqs, queueUrl, others);
  }
}

async function remove(sqs: SQSClient, QueueUrl: string, messages: readonly Message[]): Promise<number> {
  if (messages.length === 0) return 0;
  const Entries = messages.map(({ ReceiptHandle }, place) => ({ Id: String(place), ReceiptHandle }));
  const { Successful = [] } = await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  return Successful.length;
}

/** What can't be put back now comes back by itself when its visibility ends. */
async function putBack(sqs: SQSClient, QueueUrl: string, messages: readonly Message[]): Promise<void> {
  for (let from = 0; from < messages.length; from += 10) {
    const Entries = messages
      .slice(from, from + 10)
      .map(({ ReceiptHandle }, place) => ({ Id: String(place), ReceiptHandle, VisibilityTimeout: 0 }));
    await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries })).catch(() => {});
  }
}

/** The row that a message is about; null for what no sweep has sent. */
function rowOf({ Body = "" }: Message): string | null {
  try {
    const body: unknown = JSON.parse(Body);
    const isObject = typeof body === "object" && body !== null && "id" in body;
    return isObject && typeof body.id === "string" ? body.id : null;
  } catch {
    return null;
  }
}
