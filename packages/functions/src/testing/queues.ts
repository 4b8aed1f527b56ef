import { PurgeQueueCommand } from "@aws-sdk/client-sqs";
import { vi } from "vitest";
import { createQueues, QUEUES, type SqsAnswered, type SqsFault } from "../../../local/src/sqs/index.ts";
import { startTestSqs, type TestSqs } from "../../../local/src/sqs/testing.ts";
import { pointSdkAt } from "./environment.ts";

export type TestQueues = {
  sqs: TestSqs;
  queues: Awaited<ReturnType<typeof createQueues<keyof typeof QUEUES>>>;
  /** All calls of one action from now on, with what was answered. */
  calls(action: string): SqsAnswered[];
  /** Lets all calls of one action go wrong, from now on. */
  fail(action: string, fault: SqsFault): () => void;
  /** Loses what a queue holds; what it has deduplicated it still knows. */
  purge(url: string): Promise<void>;
  stop(): Promise<void>;
};

/** SQS with the product's queues, where the functions' own client finds it. */
export async function startQueues(): Promise<TestQueues> {
  const sqs = await startTestSqs();
  pointSdkAt(sqs);
  const queues = await createQueues(sqs.client, QUEUES);
  return {
    sqs,
    queues,
    calls(action) {
      const calls: SqsAnswered[] = [];
      sqs.faults.observe((answered) => {
        if (answered.action === action) calls.push(answered);
      });
      return calls;
    },
    fail: (action, fault) => sqs.faults.add((call) => (call.action === action ? fault : undefined)),
    async purge(QueueUrl) {
      await sqs.client.send(new PurgeQueueCommand({ QueueUrl }));
    },
    async stop() {
      vi.unstubAllEnvs();
      await sqs.stop();
    },
  };
}
