import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Backend } from "./backend.ts";
import { DedupWindow } from "./dedup.ts";
import { sendMessageBatch } from "./send.ts";
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

test("the window holds over more ids than fauxqs remembers", async () => {
  // Behind the HTTP front, since the SDK would take seconds for 10,000 sends.
  const sender = { backend: new Backend("us-east-1"), dedup: new DedupWindow() };
  const { QueueUrl } = await sender.backend.ask("CreateQueue", { QueueName: "q.fifo" });
  const send = async (...ids: string[]) => {
    const Entries = ids.map((id, i) => ({ Id: `${i}`, ...inGroup("g", id) }));
    return sendMessageBatch(sender, "q.fifo", { QueueUrl, Entries }, {});
  };
  const first = await send("first");
  for (let n = 0; n < 10_000; n += 10) await send(...Array.from({ length: 10 }, (_, i) => `${n + i}`));
  expect(await send("first")).toEqual(first);
  await sender.backend.stop();
});

test("the ids go with their queue", async () => {
  const url = await sqs.fifo();
  const first = await sqs.send(url, inGroup("g", "one"));
  await sqs.client.send(new DeleteQueueCommand({ QueueUrl: url }));
  const QueueName = url.split("/").at(-1);
  await sqs.client.send(new CreateQueueCommand({ QueueName, Attributes: { FifoQueue: "true" } }));
  expect(await sqs.send(url, inGroup("g", "one"))).not.toBe(first);
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
  ["a body that looks like a stored one", "\uE000utf8 hi"],
  ["a long text with emoji", `📦${"x".repeat(500_000)}📦`],
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
  await vi.waitFor(() => expect(poll).toHaveBeenCalledTimes(1), { timeout: 10_000, interval: 5 });
  waiting.abort();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  stopWatching();
  await sqs.send(url, inGroup("g", "kept"));
  await vi.waitFor(() => expect(poll).toHaveBeenCalledTimes(2), { timeout: 10_000, interval: 5 });
  stopObserving();
  expect((await sqs.receive(url)).map(({ Body }) => Body)).toEqual(["kept"]);
  leaver.destroy();
});
