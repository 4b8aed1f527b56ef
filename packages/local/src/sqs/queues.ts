import { CreateQueueCommand, GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";

const DAY = 24 * 60 * 60;

/** A queue with the queue for its dead letters; times in seconds. */
export interface QueueDefinition {
  readonly name: string;
  readonly fifo: boolean;
  readonly visibility: number;
  readonly retention: number;
  readonly deadLetters: { readonly name: string; readonly maxReceiveCount: number };
}

/** The queues of the product, as `infra/` deploys them. */
export const QUEUES = {
  notification: queue("notification", { fifo: true, maxReceiveCount: 5 }),
  // What is wrong with an event is told by its consumer; it fails only while the database is away, however long.
  event: queue("event", { fifo: false, maxReceiveCount: 1000 }),
  feedback: queue("feedback", { fifo: false, maxReceiveCount: 1000 }),
} as const satisfies Record<string, QueueDefinition>;

export interface CreatedQueue {
  readonly url: string;
  readonly arn: string;
}

export interface CreatedQueueWithDeadLetters extends CreatedQueue {
  readonly deadLetters: CreatedQueue;
}

/**
 * Creates queues, each after the queue for its dead letters. Queues that exist with the same attributes stay.
 *
 * @param definitions by the names under which the result holds them; `{ ...QUEUES, event: { ...QUEUES.event, visibility: 1 } }`
 * changes one
 */
export async function createQueues<Name extends string>(
  sqs: SQSClient,
  definitions: Readonly<Record<Name, QueueDefinition>>,
): Promise<Record<Name, CreatedQueueWithDeadLetters>> {
  const created: Partial<Record<Name, CreatedQueueWithDeadLetters>> = {};
  for (const name in definitions) created[name] = await createWithDeadLetters(sqs, definitions[name]);
  return created as Record<Name, CreatedQueueWithDeadLetters>;
}

/** The queue for what would be sent while another sender sends: nobody consumes it. */
export const createShadowQueue = (sqs: SQSClient): Promise<CreatedQueue> =>
  create(sqs, "shadow.fifo", { MessageRetentionPeriod: String(14 * DAY), ...FIFO });

async function createWithDeadLetters(
  sqs: SQSClient,
  { name, fifo, visibility, retention, deadLetters }: QueueDefinition,
): Promise<CreatedQueueWithDeadLetters> {
  const common = { MessageRetentionPeriod: String(retention), ...(fifo && FIFO) };
  const dead = await create(sqs, deadLetters.name, common);
  const queue = await create(sqs, name, {
    ...common,
    VisibilityTimeout: String(visibility),
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: dead.arn,
      maxReceiveCount: deadLetters.maxReceiveCount,
    }),
  });
  return { ...queue, deadLetters: dead };
}

/** High throughput: the limits then hold for each message group. */
const FIFO = {
  FifoQueue: "true",
  DeduplicationScope: "messageGroup",
  FifoThroughputLimit: "perMessageGroupId",
};

async function create(
  sqs: SQSClient,
  name: string,
  attributes: Record<string, string>,
): Promise<CreatedQueue> {
  const { QueueUrl: url } = await sqs.send(
    new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
  );
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["QueueArn"] }),
  );
  const arn = Attributes?.QueueArn;
  if (!url || !arn) throw new Error(`SQS created ${name} without telling its URL and ARN`);
  return { url, arn };
}

/** The defaults of a product queue: six times the function's timeout of 30 s, and nothing lost within 14 days. */
function queue(
  name: string,
  { fifo, maxReceiveCount }: { fifo: boolean; maxReceiveCount: number },
): QueueDefinition {
  const suffix = fifo ? ".fifo" : "";
  return {
    name: `${name}${suffix}`,
    fifo,
    visibility: 180,
    retention: 14 * DAY,
    deadLetters: { name: `${name}-dlq${suffix}`, maxReceiveCount },
  };
}
