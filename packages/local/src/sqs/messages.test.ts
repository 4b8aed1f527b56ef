import {
  DeleteQueueCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DedupWindow } from "./dedup.ts";
import { sqsClient, startTestSqs, type TestSqs } from "./testing.ts";

let sqs: TestSqs;
beforeAll(async () => {
  sqs = await startTestSqs();
});
afterAll(() => sqs.stop());

const inGroup = (group: string, id: string) => ({
  MessageBody: id,
  MessageGroupId: group,
  MessageDeduplicationId: id,
});

test("queue URLs lead to the front", async () => {
  const url = await sqs.queue();
  expect(url).toBe(`${sqs.endpoint}/${sqs.accountId}/${url.split("/").at(-1)}`);
  const named = await sqs.client.send(new GetQueueUrlCommand({ QueueName: url.split("/").at(-1) }));
  expect(named.QueueUrl).toBe(url);
  expect((await sqs.client.send(new ListQueuesCommand({}))).QueueUrls).toContain(url);
});

test("a repeated deduplication id is accepted and delivers nothing, after the delete and a purge too", async () => {
  const url = await sqs.fifo();
  const first = await sqs.send(url, inGroup("g", "one"));
  expect(await sqs.send(url, inGroup("g", "one"))).toBe(first);
  const [message, ...more] = await sqs.receive(url);
  expect([message?.MessageId, more]).toEqual([first, []]);
  if (message) await sqs.remove(url, message);
  await sqs.client.send(new PurgeQueueCommand({ QueueUrl: url }));
  expect(await sqs.send(url, inGroup("g", "one"))).toBe(first);
  expect(await sqs.receive(url)).toEqual([]);
});

test("the window holds over more ids than fauxqs remembers, and ends with the queue", async () => {
  const url = await sqs.fifo();
  const first = await sqs.send(url, inGroup("g", "first"));
  const batches = Array.from({ length: 1_010 }, (_, batch) =>
    Array.from({ length: 10 }, (_, i) => ({ Id: `${i}`, ...inGroup(`g${i}`, `${batch}-${i}`) })),
  );
  await Promise.all(batches.map((entries) => sqs.batch(url, entries)));
  expect(await sqs.send(url, inGroup("g", "first"))).toBe(first);
  await sqs.client.send(new DeleteQueueCommand({ QueueUrl: url }));
  const again = await sqs.fifo();
  expect(await sqs.send(again, inGroup("g", "first"))).not.toBe(first);
});

test("the window is five minutes from the first acceptance", () => {
  const dedup = new DedupWindow();
  const sent = { messageId: "m", sequenceNumber: "1" };
  dedup.remember("q", "id", sent, 0);
  dedup.remember("q", "id", { messageId: "other", sequenceNumber: "2" }, 299_000);
  expect(dedup.find("q", "id", 299_999)).toMatchObject(sent);
  expect(dedup.find("other", "id", 299_999)).toBeUndefined();
  expect(dedup.find("q", "id", 300_000)).toBeUndefined();
});

test("an in-flight message holds back its group and no other", async () => {
  const url = await sqs.fifo();
  for (const id of ["a1", "a2", "b1"]) await sqs.send(url, inGroup(id.slice(0, 1), id));
  const [a1, b1] = await sqs.receive(url);
  expect([a1?.Body, b1?.Body]).toEqual(["a1", "b1"]);
  expect(await sqs.receive(url)).toEqual([]);
  if (a1) await sqs.remove(url, a1);
  expect((await sqs.receive(url)).map(({ Body }) => Body)).toEqual(["a2"]);
});

test.each([
  ["an emoji", "held at customs 📦"],
  ["a body that looks like a stored one", "\uE000utf8 aGk="],
  ["another script", "Zollabfertigung, 通関手続き"],
])("%s comes out as it went in", async (_, body) => {
  const url = await sqs.queue();
  // The SDK compares the digests of what it sent and received.
  await sqs.send(url, { MessageBody: body });
  await sqs.batch(url, [{ Id: "a", MessageBody: body }]);
  expect((await sqs.receive(url)).map(({ Body }) => Body)).toEqual([body, body]);
});

test("a lone surrogate is refused", async () => {
  const url = await sqs.queue();
  const headers = { "x-amz-target": "AmazonSQS.SendMessage" };
  const body = `{"QueueUrl":"${url}","MessageBody":"\\ud83d"}`;
  const answer = await fetch(sqs.endpoint, { method: "POST", headers, body });
  expect(await answer.json()).toMatchObject({ __type: "com.amazonaws.sqs#InvalidMessageContents" });
});

test("a client that left during its long poll takes no message along", async () => {
  const url = await sqs.fifo();
  const leaver = sqsClient(sqs.endpoint);
  const waiting = new AbortController();
  const poll = vi.fn();
  const stopObserving = sqs.faults.observe(({ action }) => action === "ReceiveMessage" && poll());
  const stopWatching = sqs.faults.add(({ action }) => (action === "ReceiveMessage" ? poll() : undefined));
  const left = leaver.send(new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds: 20 }), {
    abortSignal: waiting.signal,
  });
  await vi.waitFor(() => expect(poll).toHaveBeenCalledTimes(1), { interval: 5 });
  waiting.abort();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  stopWatching();
  await sqs.send(url, inGroup("g", "kept"));
  await vi.waitFor(() => expect(poll).toHaveBeenCalledTimes(2), { interval: 5 });
  stopObserving();
  expect((await sqs.receive(url)).map(({ Body }) => Body)).toEqual(["kept"]);
  leaver.destroy();
});
