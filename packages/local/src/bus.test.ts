import { DeleteQueueCommand } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type Bus, type BusEvent, type BusOptions, BusStopped, createBus, EventTooLarge } from "./bus.ts";
import { startTestSqs, type TestSqs } from "./sqs/testing.ts";

let sqs: TestSqs;
const buses: Bus[] = [];
beforeAll(async () => {
  sqs = await startTestSqs();
});
afterEach(async () => {
  sqs.faults.clear();
  await Promise.all(buses.splice(0).map((bus) => bus.stop()));
});
afterAll(() => sqs.stop());

function bus(options: Partial<BusOptions> = {}): Bus {
  const created = createBus({ sqs: sqs.client, ...options });
  buses.push(created);
  return created;
}

const event = (n: number): BusEvent => ({ source: "platform", "detail-type": "shipment", detail: { n } });
const down = () =>
  sqs.faults.add(({ action }) =>
    action === "SendMessageBatch"
      ? { error: { status: 503, code: "ServiceUnavailable", message: "down" } }
      : undefined,
  );

/** What a queue holds, as parsed bodies in the order of arrival. */
async function bodies(url: string) {
  const found: BusEvent[] = [];
  for (;;) {
    const messages = await sqs.receive(url, { VisibilityTimeout: 60 });
    if (messages.length === 0) return found;
    found.push(...messages.map(({ Body = "" }): BusEvent => JSON.parse(Body)));
  }
}
const numbers = async (url: string) => (await bodies(url)).map(({ detail }) => Object(detail).n);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

test("an event arrives in EventBridge's envelope", async () => {
  const url = await sqs.queue();
  const own = bus();
  own.rule({ queueUrl: url });
  await own.put(event(1));
  await own.idle();
  expect(await bodies(url)).toEqual([
    {
      version: "0",
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      "detail-type": "shipment",
      source: "platform",
      account: "000000000000",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      region: "us-east-1",
      resources: [],
      detail: { n: 1 },
    },
  ]);
});

test("an envelope stays as it is", async () => {
  const url = await sqs.queue();
  const own = bus();
  own.rule({ queueUrl: url });
  const envelope = {
    ...event(1),
    version: "0",
    id: "id",
    account: "1",
    time: "t",
    region: "r",
    resources: ["a"],
  };
  await own.put(envelope);
  await own.idle();
  expect(await bodies(url)).toEqual([envelope]);
});

test("an event goes to the queue of every rule that matches, and to no other", async () => {
  const [all, ses, shipments, both] = await Promise.all([sqs.queue(), sqs.queue(), sqs.queue(), sqs.queue()]);
  const own = bus();
  own.rule({ queueUrl: all });
  own.rule({ source: "aws.ses", queueUrl: ses });
  own.rule({ detailType: "shipment", queueUrl: shipments });
  own.rule({ source: "aws.ses", detailType: "shipment", queueUrl: both });
  const remove = own.rule({ queueUrl: both });
  remove();
  await own.put(event(1));
  await own.put({ source: "aws.ses", "detail-type": "Email Sent", detail: { n: 2 } });
  await own.idle();
  expect(await Promise.all([all, ses, shipments, both].map(numbers))).toEqual([[1, 2], [2], [1], []]);
});

test("while SQS is down events wait; then all come, once and in order, ten in a batch", async () => {
  const url = await sqs.queue();
  const own = bus();
  own.rule({ queueUrl: url });
  const attempts = vi.fn();
  sqs.faults.add(({ action }) => (action === "SendMessageBatch" ? attempts() : undefined));
  const up = down();
  for (const n of upTo(25)) await own.put(event(n));
  await vi.waitFor(() => expect(attempts.mock.calls.length).toBeGreaterThan(1), {
    timeout: 10_000,
    interval: 5,
  });
  const sizes: number[] = [];
  sqs.faults.observe(({ request }) => Array.isArray(request.Entries) && sizes.push(request.Entries.length));
  up();
  await own.idle();
  expect(sizes.filter((size) => size < 10).length).toBeLessThanOrEqual(2);
  expect(await numbers(url)).toEqual(upTo(25));
});

test("entries that SQS fails are sent again, and a dropped answer loses nothing", async () => {
  const url = await sqs.queue();
  const own = bus();
  own.rule({ queueUrl: url });
  let calls = 0;
  sqs.faults.add(({ action }) => {
    if (action !== "SendMessageBatch") return undefined;
    calls += 1;
    if (calls === 1)
      return { failed: ({ Id }) => (Id === "1" ? { code: "InternalError", message: "no" } : undefined) };
    return calls === 2 ? { drop: "before" } : undefined;
  });
  await Promise.all(upTo(4).map((n) => own.put(event(n))));
  await own.idle();
  expect([calls, await numbers(url)]).toEqual([3, [0, 2, 3, 1]]);
});

test("an event that SQS refuses for good is reported and holds back no other", async () => {
  const url = await sqs.queue();
  const onDropped = vi.fn();
  const own = bus({ onDropped });
  own.rule({ queueUrl: url });
  sqs.faults.add(() => ({
    failed: ({ Id }) =>
      Id === "1" ? { code: "InvalidMessageContents", message: "no", senderFault: true } : undefined,
  }));
  await Promise.all(upTo(3).map((n) => own.put(event(n))));
  await own.idle();
  expect(await numbers(url)).toEqual([0, 2]);
  expect(onDropped.mock.calls).toEqual([[url, "InvalidMessageContents"]]);
});

test("producers wait when too much waits, and keep their order", async () => {
  const url = await sqs.queue();
  const own = bus({ capacity: 3 });
  own.rule({ queueUrl: url });
  const up = down();
  const taken: number[] = [];
  const puts = upTo(6).map((n) => own.put(event(n)).then(() => taken.push(n)));
  await Promise.all(puts.slice(0, 3));
  expect(taken).toEqual([0, 1, 2]);
  up();
  await Promise.all(puts);
  await own.idle();
  expect(await numbers(url)).toEqual(upTo(6));
});

test("large events go in batches that SQS takes; one that is too large is refused", async () => {
  const url = await sqs.queue();
  const own = bus();
  own.rule({ queueUrl: url });
  const large = (n: number) => ({ ...event(n), detail: { n, text: "x".repeat(400_000) } });
  await Promise.all(upTo(5).map((n) => own.put(large(n))));
  await own.idle();
  expect(await numbers(url)).toEqual(upTo(5));
  await expect(own.put({ ...event(1), detail: "x".repeat(1024 * 1024) })).rejects.toThrow(EventTooLarge);
});

test("every character arrives", async () => {
  const url = await sqs.queue();
  const own = bus();
  own.rule({ queueUrl: url });
  const detail = { name: "Zoë 📦 通関 \0 \uD83D \uFFFE \uFFFF" };
  await own.put({ ...event(1), detail });
  await own.idle();
  expect((await bodies(url)).map((body) => body.detail)).toEqual([detail]);
});

test("stop delivers what waits, then nothing more is taken", async () => {
  const url = await sqs.queue();
  const own = bus();
  own.rule({ queueUrl: url });
  const up = down();
  await own.put(event(1));
  up();
  await own.stop();
  expect(await numbers(url)).toEqual([1]);
  await expect(own.put(event(2))).rejects.toThrow(BusStopped);
});

test("stop gives up on a queue that takes nothing, and says so", async () => {
  const url = await sqs.queue();
  const onDropped = vi.fn();
  const own = bus({ capacity: 1, onDropped });
  own.rule({ queueUrl: url });
  await sqs.client.send(new DeleteQueueCommand({ QueueUrl: url }));
  await own.put(event(1));
  const blocked = own.put(event(2));
  const refusal = expect(blocked).rejects.toThrow(BusStopped);
  await own.stop();
  await refusal;
  expect(onDropped.mock.calls).toEqual([[url, "the bus was stopped"]]);
});
