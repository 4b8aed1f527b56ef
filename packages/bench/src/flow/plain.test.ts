import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createQueues, type LocalSqs, QUEUES, startSqs } from "../../../local/src/sqs/index.ts";
import { carry } from "./plain.ts";

let server: LocalSqs;
let sqs: SQSClient;
beforeAll(async () => {
  server = await startSqs();
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  sqs = new SQSClient({ endpoint: server.endpoint, region: server.region, credentials });
});
afterAll(async () => {
  sqs.destroy();
  await server.stop();
});

test("carries every message, and leaves none in the queue", async () => {
  const { notification } = await createQueues(sqs, { notification: QUEUES.notification });
  const counts = { SendMessageBatch: 0, DeleteMessageBatch: 0 };
  const stop = server.faults.observe(({ action, request }) => {
    if (action in counts)
      counts[action as keyof typeof counts] += Array.isArray(request.Entries) ? request.Entries.length : 0;
  });
  expect(await carry({ sqs, url: notification.url }, 47, { lanes: 4, concurrency: 4 })).toBeGreaterThan(0);
  stop();
  expect(counts).toEqual({ SendMessageBatch: 47, DeleteMessageBatch: 47 });
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: notification.url, AttributeNames: ["All"] }),
  );
  expect(Attributes).toMatchObject({
    ApproximateNumberOfMessages: "0",
    ApproximateNumberOfMessagesNotVisible: "0",
  });
});
