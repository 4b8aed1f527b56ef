import { SendMessageBatchCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entryOf } from "./entry.ts";
import { publishAlone } from "./publish-alone.ts";
import { type StubQueue, startStubQueue } from "./start-stub-queue.ts";

let queue: StubQueue;
beforeAll(async () => {
  queue = await startStubQueue(0, 4);
});
afterAll(() => queue.stop());

const entry = entryOf({ id: "0199a1b2-0000-7000-8000-000000000001", generation: 0, group: "7" });

test("takes a message, and the SDK finds its digest right", async () => {
  const answer = await queue.sqs.send(new SendMessageCommand({ QueueUrl: queue.url, ...entry }));
  expect(answer).toMatchObject({ MessageId: expect.any(String), MD5OfMessageBody: expect.any(String) });
});

test("takes each entry of a batch", async () => {
  const Entries = ["a", "b"].map((Id) => ({ Id, ...entry }));
  const answer = await queue.sqs.send(new SendMessageBatchCommand({ QueueUrl: queue.url, Entries }));
  expect(answer.Successful?.map(({ Id }) => Id)).toEqual(["a", "b"]);
  expect(answer.Failed ?? []).toEqual([]);
});

test("the SDK alone publishes as many rows as asked for, the last batch too", async () => {
  expect(await publishAlone(queue, 23, 4)).toBe(23);
});
