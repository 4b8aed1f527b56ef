import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { SqsAnswered, SqsFault } from "./faults.ts";
import { startTestSqs, type TestSqs } from "./testing.ts";

let sqs: TestSqs;
beforeAll(async () => {
  sqs = await startTestSqs();
});
afterEach(() => sqs.faults.clear());
afterAll(() => sqs.stop());

const entry = (id: string) => ({
  Id: id,
  MessageBody: `body of ${id}`,
  MessageGroupId: id,
  MessageDeduplicationId: id,
});
const onSends = (fault: SqsFault) =>
  sqs.faults.add(({ action }) => (action === "SendMessageBatch" ? fault : undefined));
const bodies = async (url: string) => (await sqs.receive(url)).map(({ Body }) => Body);

test("an error answers instead of the queue", async () => {
  const url = await sqs.fifo();
  const remove = onSends({ error: { status: 503, code: "ServiceUnavailable", message: "try later" } });
  await expect(sqs.batch(url, [entry("a")])).rejects.toMatchObject({
    name: "ServiceUnavailable",
    message: "try later",
    $metadata: { httpStatusCode: 503 },
  });
  expect(await bodies(url)).toEqual([]);
  remove();
  expect((await sqs.batch(url, [entry("a")])).accepted).toEqual(["a"]);
});

test("a rule sees the call and decides on it", async () => {
  const url = await sqs.queue();
  const seen = vi.fn();
  sqs.faults.add(seen);
  await sqs.send(url, { MessageBody: "b" });
  expect(seen.mock.calls).toEqual([
    [
      {
        action: "SendMessage",
        queueName: url.split("/").at(-1),
        caller: "local",
        request: { QueueUrl: url, MessageBody: "b" },
      },
    ],
  ]);
});

test("a dropped connection: before, the queue knows nothing; after, it has the message", async () => {
  const url = await sqs.fifo();
  const reset = { code: "ECONNRESET" };
  const remove = onSends({ drop: "before" });
  await expect(sqs.batch(url, [entry("a")])).rejects.toMatchObject(reset);
  expect(await bodies(url)).toEqual([]);
  remove();
  onSends({ drop: "after" });
  await expect(sqs.batch(url, [entry("a")])).rejects.toMatchObject(reset);
  expect(await bodies(url)).toEqual(["body of a"]);
});

test("chosen entries fail, the others go on", async () => {
  const url = await sqs.fifo();
  onSends({
    failed: ({ Id }) => (Id === "b" ? { code: "InternalError", message: "not this one" } : undefined),
  });
  expect(await sqs.batch(url, ["a", "b", "c"].map(entry))).toEqual({
    accepted: ["a", "c"],
    failed: [{ id: "b", code: "InternalError" }],
  });
  expect(await bodies(url)).toEqual(["body of a", "body of c"]);
});

test("a held answer comes when the hold ends; the message is there before", async () => {
  const url = await sqs.fifo();
  const hold = Promise.withResolvers<void>();
  onSends({ hold: hold.promise });
  let answered = false;
  const sending = sqs.batch(url, [entry("a")]).finally(() => {
    answered = true;
  });
  await vi.waitFor(async () => expect(await bodies(url)).toEqual(["body of a"]), {
    timeout: 10_000,
    interval: 5,
  });
  expect(answered).toBe(false);
  hold.resolve();
  expect((await sending).accepted).toEqual(["a"]);
});

test("a swallowed message is reported as accepted, is nowhere, and its id stays known", async () => {
  const url = await sqs.fifo();
  const remove = onSends({ swallow: ({ Id }) => Id === "lost" });
  expect((await sqs.batch(url, ["lost", "kept"].map(entry))).accepted).toEqual(["lost", "kept"]);
  remove();
  expect(await bodies(url)).toEqual(["body of kept"]);
  await sqs.batch(url, [entry("lost")]);
  expect(await bodies(url)).toEqual([]);
  await sqs.batch(url, [{ ...entry("lost"), MessageDeduplicationId: "lost.1" }]);
  expect(await bodies(url)).toEqual(["body of lost"]);
});

test("a delay comes before everything else", async () => {
  const url = await sqs.fifo();
  onSends({ delay: 30, error: { status: 500, code: "InternalFailure", message: "late" } });
  const start = performance.now();
  await expect(sqs.batch(url, [entry("a")])).rejects.toThrow("late");
  expect(performance.now() - start).toBeGreaterThan(28);
});

test("an observer is told of calls and answers", async () => {
  const url = await sqs.queue();
  const answered: SqsAnswered[] = [];
  const stop = sqs.faults.observe((call) => answered.push(call));
  const id = await sqs.send(url, { MessageBody: "b" });
  await expect(sqs.receive(`${url}-none`)).rejects.toThrow();
  stop();
  await sqs.receive(url);
  expect(answered).toMatchObject([
    {
      action: "SendMessage",
      queueName: url.split("/").at(-1),
      caller: "local",
      status: 200,
      response: { MessageId: id },
    },
    { action: "ReceiveMessage", status: 400, response: { __type: "com.amazonaws.sqs#QueueDoesNotExist" } },
  ]);
});

test("an answer that is spoilt on its way, after the queue did what was asked", async () => {
  const url = await sqs.fifo();
  const remove = onSends({ garble: (body) => body.slice(0, body.length / 2) });
  await expect(sqs.batch(url, [entry("a")])).rejects.toThrow(SyntaxError);
  remove();
  expect(await bodies(url)).toEqual(["body of a"]);
});
