import type { Mistake } from "./mistake.ts";

export const queueMistakes: Mistake[] = [
  {
    name: "a standard dead-letter queue for a FIFO queue",
    edits: [["dead-letters.ts", "Dlq`, { fifo })", "Dlq`, { fifo: false })"]],
    rule: "a queue and its dead-letter queue are of one kind",
  },
  {
    name: "visibility timeout too short",
    edits: [["settings-rules.ts", "6 * timeouts[stage]", "5 * timeouts[stage]"]],
    rule: "visibility timeout is six times the consumer's timeout",
  },
  {
    name: "dead letters kept for four days",
    edits: [
      [
        "dead-letters.ts",
        "queue.messageRetentionSeconds = fortnight",
        "queue.messageRetentionSeconds = 345_600",
      ],
    ],
    rule: "a dead-letter queue keeps messages for 14 days",
  },
  {
    name: "no redrive allow policy",
    edits: [
      ["dead-letters.ts", "new aws.sqs.RedriveAllowPolicy(", "if (fifo) new aws.sqs.RedriveAllowPolicy("],
    ],
    rule: "a queue names its dead-letter queue's only source",
  },
  {
    name: "batches of 11 from a FIFO queue",
    edits: [["consumer.ts", "batchSize: 10", "batchSize: 11"]],
    rule: "a FIFO queue's batch has at most 10 messages",
  },
  {
    name: "a batch window on a FIFO queue",
    edits: [["consumer.ts", "maximumBatchingWindowInSeconds: 0", "maximumBatchingWindowInSeconds: 5"]],
    rule: "a FIFO queue's batch waits for no window",
  },
  {
    name: "a maximum concurrency of 1",
    edits: [
      ["consumer.ts", "maximumConcurrency: concurrency", "maximumConcurrency: Math.min(concurrency, 1)"],
    ],
    rule: "maximum concurrency is set, from 2 to 1000",
  },
  {
    name: "a consumer on the shadow queue",
    settings: { shadowQueue: true },
    edits: [
      ["deliver.ts", "import { notificationQueue }", "import { notificationQueue, shadowQueue }"],
      [
        "deliver.ts",
        'consume("Deliver", ',
        'if (shadowQueue) consume("Shadow", shadowQueue, deliver, { concurrency: 2 });\nconsume("Deliver", ',
      ],
    ],
    rule: "the shadow queue is there when asked for, and nobody consumes it",
  },
];
