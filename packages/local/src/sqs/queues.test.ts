import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createQueues, QUEUES } from "./queues.ts";
import { startTestSqs, type TestSqs } from "./testing.ts";

let sqs: TestSqs;
beforeAll(async () => {
  sqs = await startTestSqs();
});
afterAll(() => sqs.stop());

const attributes = async (QueueUrl: string) => {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  return (await sqs.client.send(command)).Attributes;
};

test("the queues of the product", async () => {
  const { notification, event, feedback } = await createQueues(sqs.client, {
    ...QUEUES,
    feedback: { ...QUEUES.feedback, visibility: 7 },
  });
  expect([notification, event, feedback].map(({ url }) => url.split("/").at(-1))).toEqual([
    "notification.fifo",
    "event",
    "feedback",
  ]);
  expect(await attributes(notification.url)).toMatchObject({
    QueueArn: notification.arn,
    FifoQueue: "true",
    DeduplicationScope: "messageGroup",
    FifoThroughputLimit: "perMessageGroupId",
    VisibilityTimeout: "180",
    MessageRetentionPeriod: "1209600",
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: notification.deadLetters.arn, maxReceiveCount: 5 }),
  });
  expect(await attributes(notification.deadLetters.url)).toMatchObject({
    QueueArn: expect.stringMatching(/:notification-dlq\.fifo$/),
    FifoQueue: "true",
    MessageRetentionPeriod: "1209600",
  });
  expect(await attributes(event.url)).toMatchObject({
    VisibilityTimeout: "180",
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: event.deadLetters.arn, maxReceiveCount: 1000 }),
  });
  expect(await attributes(event.deadLetters.url)).toMatchObject({
    QueueArn: expect.stringMatching(/:event-dlq$/),
    MessageRetentionPeriod: "1209600",
  });
  expect(await attributes(feedback.url)).toMatchObject({ VisibilityTimeout: "7" });
  // Once more changes nothing: every start of the stack runs this.
  expect((await createQueues(sqs.client, QUEUES.event && { event: QUEUES.event })).event).toEqual(event);
});
