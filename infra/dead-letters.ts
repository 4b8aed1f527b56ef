const fortnight = 14 * 24 * 60 * 60;

export type QueueOptions = {
  fifo: boolean;
  /** Seconds that a received message stays invisible. */
  visibility: number;
  /** How often a message is handed out before it counts as dead. */
  receives: number;
};

export type QueueWithDlq = { queue: sst.aws.Queue; deadLetters: sst.aws.Queue };

/** A queue `<stage>Queue` and the one for its dead letters, `<stage>Dlq`, into which no other queue may put any. */
export function createQueueWithDlq(
  stage: string,
  { fifo, visibility, receives }: QueueOptions,
): QueueWithDlq {
  const deadLetters = createQueue(`${stage}Dlq`, { fifo });
  const queue = createQueue(`${stage}Queue`, {
    fifo,
    visibilityTimeout: `${visibility} seconds`,
    dlq: { queue: deadLetters.arn, retry: receives },
  });
  new aws.sqs.RedriveAllowPolicy(`${stage}DlqRedriveAllowPolicy`, {
    queueUrl: deadLetters.url,
    redriveAllowPolicy: $jsonStringify({ redrivePermission: "byQueue", sourceQueueArns: [queue.arn] }),
  });
  return { queue, deadLetters };
}

/** A queue as all of them are: encrypted, and nothing in it lost within SQS's longest retention. */
export function createQueue(name: string, args: sst.aws.QueueArgs & { fifo: boolean }): sst.aws.Queue {
  return new sst.aws.Queue(name, {
    ...args,
    transform: {
      queue: (queue) => {
        queue.messageRetentionSeconds = fortnight;
        queue.sqsManagedSseEnabled = true;
        if (!args.fifo) return;
        // High throughput: SQS's limits then hold for each message group.
        queue.deduplicationScope = "messageGroup";
        queue.fifoThroughputLimit = "perMessageGroupId";
      },
    },
  });
}
