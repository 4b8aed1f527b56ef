import {
  CancelMessageMoveTaskCommand,
  ListDeadLetterSourceQueuesCommand,
  ListMessageMoveTasksCommand,
  type Message,
  StartMessageMoveTaskCommand,
  type StartMessageMoveTaskCommandInput,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTestSqs, type TestSqs } from "./testing.ts";

let sqs: TestSqs;
beforeAll(async () => {
  sqs = await startTestSqs();
});
afterAll(() => sqs.stop());

/** A FIFO queue whose messages are dead after `receives` receives, with that many dead letters. */
async function queueWithDead(bodies: string[], receives = 1) {
  const dead = await sqs.fifo();
  const deadArn = await sqs.arn(dead);
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount: receives });
  const source = await sqs.fifo({ VisibilityTimeout: "0", RedrivePolicy });
  for (const body of bodies) {
    await sqs.send(source, {
      MessageBody: body,
      MessageGroupId: `group-of-${body}`,
      MessageDeduplicationId: body,
      MessageAttributes: { kind: { DataType: "String", StringValue: "drill" } },
    });
  }
  for (let i = 0; i < receives; i++) expect(await sqs.receive(source)).toHaveLength(bodies.length);
  // The receive that is one too many moves them.
  expect(await sqs.receive(source)).toEqual([]);
  return { source, dead, deadArn };
}

async function tasks(SourceArn: string) {
  const listed = new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 10 });
  return (await sqs.client.send(listed)).Results ?? [];
}

const start = (input: StartMessageMoveTaskCommandInput) =>
  sqs.client.send(new StartMessageMoveTaskCommand(input));

const ended = (arn: string, status: string) =>
  vi.waitFor(async () => expect((await tasks(arn))[0]?.Status).toBe(status), {
    timeout: 10_000,
    interval: 10,
  });

test("a message that was received five times goes to the dead letters", async () => {
  const { dead } = await queueWithDead(["poison"], 5);
  expect((await sqs.receive(dead)).map(({ Body }) => Body)).toEqual(["poison"]);
});

test("a move task brings dead letters back as new messages", async () => {
  const { source, dead, deadArn } = await queueWithDead(["a", "b"]);
  const before = await sqs.receive(dead, { VisibilityTimeout: 0 });
  await start({ SourceArn: deadArn });
  await ended(deadArn, "COMPLETED");
  expect(await tasks(deadArn)).toEqual([
    {
      Status: "COMPLETED",
      SourceArn: deadArn,
      ApproximateNumberOfMessagesMoved: 2,
      ApproximateNumberOfMessagesToMove: 2,
      StartedTimestamp: expect.any(Number),
    },
  ]);
  expect(await sqs.receive(dead)).toEqual([]);
  const after = await sqs.receive(source, { MessageAttributeNames: ["All"] });
  expect(after.map(({ Body, Attributes }) => [Body, Attributes?.MessageGroupId])).toEqual([
    ["a", "group-of-a"],
    ["b", "group-of-b"],
  ]);
  expect(after.map(({ Attributes }) => Attributes?.ApproximateReceiveCount)).toEqual(["1", "1"]);
  expect(after[0]?.MessageAttributes).toEqual({ kind: { DataType: "String", StringValue: "drill" } });
  const ids = (messages: Message[]) => messages.map(({ MessageId }) => MessageId);
  const deduplicationIds = (messages: Message[]) =>
    messages.map(({ Attributes }) => Attributes?.MessageDeduplicationId);
  expect(new Set([...ids(before), ...ids(after)]).size).toBe(4);
  expect(new Set([...deduplicationIds(before), ...deduplicationIds(after)]).size).toBe(4);
});

test("a rate holds it back, a second task is refused, and it can be cancelled", async () => {
  const { dead, deadArn } = await queueWithDead([..."abcdefghij"]);
  const { TaskHandle } = await start({ SourceArn: deadArn, MaxNumberOfMessagesPerSecond: 1 });
  const moved = async () => (await tasks(deadArn))[0]?.ApproximateNumberOfMessagesMoved ?? 0;
  await vi.waitFor(async () => expect(await moved()).toBeGreaterThan(0), { timeout: 10_000, interval: 10 });
  const running = { Status: "RUNNING", TaskHandle, MaxNumberOfMessagesPerSecond: 1 };
  expect((await tasks(deadArn))[0]).toMatchObject(running);
  await expect(start({ SourceArn: deadArn })).rejects.toThrow("There is already a task running");
  await sqs.client.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
  await ended(deadArn, "CANCELLED");
  const again = sqs.client.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
  await expect(again).rejects.toThrow("Only active tasks");
  expect(await sqs.receive(dead)).toHaveLength(10 - (await moved()));
});

test("a destination can be named, and what makes no sense is refused", async () => {
  const { source, deadArn } = await queueWithDead(["a"]);
  const elsewhere = await sqs.fifo();
  const refused = (input: StartMessageMoveTaskCommandInput) =>
    start(input).then(
      () => "accepted",
      (error: Error) => error.name,
    );
  const standard = await sqs.arn(await sqs.queue());
  expect(await refused({ SourceArn: await sqs.arn(source) })).toBe("InvalidParameterValue");
  expect(await refused({ SourceArn: `${deadArn}-none` })).toBe("ResourceNotFoundException");
  expect(await refused({ SourceArn: deadArn, DestinationArn: `${deadArn}-none` })).toBe(
    "ResourceNotFoundException",
  );
  expect(await refused({ SourceArn: deadArn, DestinationArn: deadArn })).toBe("InvalidParameterValue");
  expect(await refused({ SourceArn: deadArn, DestinationArn: standard })).toBe("InvalidParameterValue");
  expect(await refused({ SourceArn: deadArn, MaxNumberOfMessagesPerSecond: 501 })).toBe(
    "InvalidParameterValue",
  );
  await start({ SourceArn: deadArn, DestinationArn: await sqs.arn(elsewhere) });
  await ended(deadArn, "COMPLETED");
  expect((await sqs.receive(elsewhere)).map(({ Body }) => Body)).toEqual(["a"]);
});

test("the queues of a dead-letter queue are listed", async () => {
  const { source, dead } = await queueWithDead([]);
  const listed = await sqs.client.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: dead }));
  expect(listed.queueUrls).toEqual([source]);
});
