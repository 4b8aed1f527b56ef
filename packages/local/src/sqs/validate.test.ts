import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  type SendMessageBatchRequestEntry,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sqsClient, startTestSqs, type TestSqs } from "./testing.ts";

let sqs: TestSqs;
beforeAll(async () => {
  sqs = await startTestSqs();
});
afterAll(() => sqs.stop());

const entry = (id: string, more: Partial<SendMessageBatchRequestEntry> = {}) => ({
  Id: id,
  MessageBody: "b",
  MessageGroupId: "g",
  MessageDeduplicationId: id,
  ...more,
});

test.each([
  ["no entry", [], "EmptyBatchRequest"],
  ["eleven entries", Array.from({ length: 11 }, (_, i) => entry(`e${i}`)), "TooManyEntriesInBatchRequest"],
  ["an id with a space", [entry("a b")], "InvalidBatchEntryId"],
  ["an id of 81 characters", [entry("i".repeat(81))], "InvalidBatchEntryId"],
  ["the same id twice", [entry("a"), entry("a")], "BatchEntryIdsNotDistinct"],
  [
    "more than 1 MiB in total",
    ["a", "b", "c"].map((id) => entry(id, { MessageBody: "x".repeat(400_000) })),
    "BatchRequestTooLong",
  ],
])("a batch with %s is refused as a whole", async (_, entries, shape) => {
  const url = await sqs.fifo();
  await expect(sqs.batch(url, entries)).rejects.toMatchObject({
    name: shape,
    $fault: "client",
  });
  expect(await sqs.receive(url)).toEqual([]);
});

test.each([
  ["a group id with a space", { MessageGroupId: "a b" }, "InvalidParameterValue"],
  ["a group id of 129 characters", { MessageGroupId: "g".repeat(129) }, "InvalidParameterValue"],
  ["an empty group id", { MessageGroupId: "" }, "InvalidParameterValue"],
  ["no group id", { MessageGroupId: undefined }, "MissingParameter"],
  ["a deduplication id with a space", { MessageDeduplicationId: "a b" }, "InvalidParameterValue"],
  [
    "a deduplication id of 129 characters",
    { MessageDeduplicationId: "d".repeat(129) },
    "InvalidParameterValue",
  ],
  ["a control character in the body", { MessageBody: "a\u0001" }, "InvalidMessageContents"],
])("an entry with %s fails alone", async (_, more, code) => {
  const url = await sqs.fifo();
  expect(await sqs.batch(url, [entry("good"), entry("bad", more), entry("fine")])).toEqual({
    accepted: ["good", "fine"],
    failed: [{ id: "bad", code }],
  });
  const { Id: _id, ...message } = entry("bad", more);
  await expect(sqs.send(url, message)).rejects.toMatchObject({ name: code });
});

test("the limits themselves are accepted", async () => {
  const url = await sqs.fifo();
  const longest = { MessageGroupId: "~".repeat(128), MessageDeduplicationId: "!".repeat(128) };
  const ids = ["i".repeat(80), ..."abcdefghi"];
  const entries = ids.map((id, i) => entry(id, i === 0 ? longest : {}));
  expect((await sqs.batch(url, entries)).accepted).toEqual(ids);
  await sqs.send(url, { ...entry("large"), MessageBody: "x".repeat(1024 * 1024) });
  await expect(
    sqs.send(url, { ...entry("larger"), MessageBody: "x".repeat(1024 * 1024 + 1) }),
  ).rejects.toMatchObject({ name: "InvalidParameterValue" });
});

test("receives and visibility changes outside the limits are refused", async () => {
  const url = await sqs.queue();
  await sqs.send(url, { MessageBody: "b" });
  for (const outside of [
    { MaxNumberOfMessages: 0 },
    { MaxNumberOfMessages: 11 },
    { VisibilityTimeout: -1 },
    { VisibilityTimeout: 43_201 },
  ]) {
    const command = new ReceiveMessageCommand({ QueueUrl: url, ...outside });
    await expect(sqs.client.send(command)).rejects.toMatchObject({ name: "InvalidParameterValue" });
  }
  const [message] = await sqs.receive(url);
  const handle = { QueueUrl: url, ReceiptHandle: message?.ReceiptHandle };
  await expect(
    sqs.client.send(new ChangeMessageVisibilityCommand({ ...handle, VisibilityTimeout: 43_201 })),
  ).rejects.toMatchObject({ name: "InvalidParameterValue" });
  await sqs.client.send(new ChangeMessageVisibilityCommand({ ...handle, VisibilityTimeout: 0 }));
  expect(await sqs.receive(url)).toHaveLength(1);
});

test("entry ids are checked in a batch of deletes too", async () => {
  const url = await sqs.queue();
  const Entries = [{ Id: "i".repeat(81), ReceiptHandle: "r" }];
  await expect(
    sqs.client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries })),
  ).rejects.toMatchObject({ name: "InvalidBatchEntryId" });
});

test("a missing queue is named as AWS names it", async () => {
  await expect(sqs.receive(`${sqs.endpoint}/000000000000/none`)).rejects.toMatchObject({
    name: "QueueDoesNotExist",
    Error: { Code: "AWS.SimpleQueueService.NonExistentQueue" },
  });
});

test("a client of another region is refused", async () => {
  const elsewhere = sqsClient(sqs.endpoint, "eu-west-1");
  const command = new ReceiveMessageCommand({ QueueUrl: await sqs.queue() });
  await expect(elsewhere.send(command)).rejects.toThrow("this is us-east-1, not eu-west-1");
  elsewhere.destroy();
});

test("what is not SQS gets an error, not a hang", async () => {
  const answer = await fetch(sqs.endpoint);
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("x-amz-target")]);
  const headers = { "x-amz-target": "AmazonSQS.SendMessage" };
  const malformed = await fetch(sqs.endpoint, { method: "POST", headers, body: "[" });
  expect(await malformed.text()).toContain("SerializationException");
});
