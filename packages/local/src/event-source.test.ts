import { createServer } from "node:http";
import { promisify } from "node:util";
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { Context, SQSEvent } from "aws-lambda";
import { buildApp } from "fauxqs";
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from "vitest";

import { type EventSource, type EventSourceOptions, startEventSource } from "./event-source.ts";
import { listen } from "./port.ts";

vi.setConfig({ maxConcurrency: 50, testTimeout: 30_000 });

const region = "eu-central-1";
const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const soon = { timeout: 5_000, interval: 10 };

let app: ReturnType<typeof buildApp>;
let sqs: SQSClient;
let queues = 0;

const connect = (endpoint: string, maxAttempts = 3) =>
  new SQSClient({ endpoint, region, credentials, maxAttempts, useQueueUrlAsEndpoint: false });

beforeAll(async () => {
  app = buildApp({ logger: false, defaultRegion: region });
  sqs = connect(await app.listen({ host: "127.0.0.1", port: 0 }));
});
afterAll(async () => {
  sqs.destroy();
  await app.close();
});

/** A queue of its own for each test, since they run side by side: a source's stop takes up to a second. */
async function createQueue({ onTestFinished }: TestContext, { fifo = false } = {}) {
  queues += 1;
  const { QueueUrl: queueUrl = "" } = await sqs.send(
    new CreateQueueCommand({
      QueueName: `queue-${queues}${fifo ? ".fifo" : ""}`,
      Attributes: { VisibilityTimeout: "60", ...(fifo && { FifoQueue: "true" }) },
    }),
  );
  const attributes = async () => {
    const all = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["All"] });
    return (await sqs.send(all)).Attributes ?? {};
  };
  const queueArn = (await attributes()).QueueArn ?? "";
  const lines: string[] = [];
  return {
    queueUrl,
    queueArn,
    /** What the source logged. */
    lines,

    async send(...bodies: string[]): Promise<void> {
      for (let from = 0; from < bodies.length; from += 10) {
        const entries = bodies
          .slice(from, from + 10)
          .map((body, index) => ({ Id: String(index), MessageBody: body }));
        await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }));
      }
    },

    /** Messages that nobody deleted: those that wait, and those that are invisible. */
    async left(): Promise<{ visible: number; invisible: number }> {
      const { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible } = await attributes();
      return {
        visible: Number(ApproximateNumberOfMessages),
        invisible: Number(ApproximateNumberOfMessagesNotVisible),
      };
    },

    start(options: Partial<EventSourceOptions> & Pick<EventSourceOptions, "handler">): EventSource {
      const log = (line: string) => lines.push(line);
      const source = startEventSource({
        sqs,
        queueUrl,
        queueArn,
        region,
        functionName: "deliver",
        log,
        ...options,
      });
      onTestFinished(() => source.stop());
      return source;
    },
  };
}

/** A handler whose invocations go on until the test ends them. */
function heldHandler() {
  const held: { event: SQSEvent; end: (answer?: unknown) => void }[] = [];
  const handler = (event: SQSEvent) =>
    new Promise<unknown>((resolve) => {
      held.push({ event, end: resolve });
    });
  return { held, handler, endAll: () => held.splice(0).map(({ end }) => end()) };
}

const bodies = (event: SQSEvent | undefined) => event?.Records.map((record) => record.body);

describe.concurrent("the invocation", () => {
  test("has the event and the context that Lambda hands over", async (context) => {
    const { queueUrl, queueArn, start } = await createQueue(context, { fifo: true });
    const { MessageId, SequenceNumber } = await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: '{"id":"1","generation":0}',
        MessageGroupId: "group",
        MessageDeduplicationId: "shipment-notif-1",
        MessageAttributes: {
          kind: { DataType: "String", StringValue: "follow-up" },
          raw: { DataType: "Binary", BinaryValue: Uint8Array.of(0, 255) },
        },
      }),
    );
    const handler = vi.fn(async (_event: SQSEvent, context: Context) => {
      remaining = context.getRemainingTimeInMillis();
    });
    let remaining = 0;
    const source = start({ handler, timeoutSeconds: 7 });
    await vi.waitFor(() => expect(source.stats.deleted).toBe(1), soon);

    const [event, handed] = handler.mock.calls[0] ?? [];
    const millis = expect.stringMatching(/^\d{13}$/);
    expect(event).toEqual({
      Records: [
        {
          messageId: MessageId,
          receiptHandle: expect.stringMatching(/.+/),
          body: '{"id":"1","generation":0}',
          attributes: {
            ApproximateReceiveCount: "1",
            ApproximateFirstReceiveTimestamp: millis,
            SentTimestamp: millis,
            SenderId: "000000000000",
            SequenceNumber,
            MessageGroupId: "group",
            MessageDeduplicationId: "shipment-notif-1",
          },
          messageAttributes: {
            kind: {
              stringValue: "follow-up",
              stringListValues: [],
              binaryListValues: [],
              dataType: "String",
            },
            raw: { binaryValue: "AP8=", stringListValues: [], binaryListValues: [], dataType: "Binary" },
          },
          md5OfBody: expect.stringMatching(/^[0-9a-f]{32}$/),
          md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
          eventSource: "aws:sqs",
          eventSourceARN: queueArn,
          awsRegion: region,
        },
      ],
    });
    expect(handed).toMatchObject({
      functionName: "deliver",
      invokedFunctionArn: "arn:aws:lambda:eu-central-1:000000000000:function:deliver",
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(remaining).toBeGreaterThan(6_000);
    expect(remaining).toBeLessThanOrEqual(7_000);
  });

  test("there are never more than maximumConcurrency, and no message is fetched for later", async (context) => {
    const { send, left, start } = await createQueue(context);
    await send("1", "2", "3", "4", "5");
    const { held, handler, endAll } = heldHandler();
    const source = start({ handler, batchSize: 1, maximumConcurrency: 2 });
    await vi.waitFor(() => expect(held).toHaveLength(2), soon);
    expect(source.stats.running).toBe(2);
    expect(await left()).toEqual({ visible: 3, invisible: 2 });
    endAll();
    await vi.waitFor(() => expect(held).toHaveLength(2), soon);
    expect(source.stats).toMatchObject({ received: 4, invocations: 4, deleted: 2 });
    endAll();
    await vi.waitFor(() => expect(held).toHaveLength(1), soon);
    endAll();
    await vi.waitFor(() => expect(source.stats.deleted).toBe(5), soon);
  });

  test("waits for the window to fill its batch, of more than ten too", async (context) => {
    const { send, start } = await createQueue(context);
    const { held, handler, endAll } = heldHandler();
    const source = start({ handler, batchSize: 15, batchWindowSeconds: 60 });
    await send("0");
    await vi.waitFor(() => expect(source.stats.received).toBe(1), soon);
    expect(held).toHaveLength(0);
    await send(...Array.from({ length: 14 }, (_, index) => String(index + 1)));
    await vi.waitFor(() => expect(held).toHaveLength(1), soon);
    expect(held[0]?.event.Records).toHaveLength(15);
    endAll();
    await vi.waitFor(() => expect(source.stats.deleted).toBe(15), soon);
  });

  test("starts with what there is when the window ends", async (context) => {
    const { send, start } = await createQueue(context);
    await send("alone");
    const source = start({ handler: async () => {}, batchSize: 10, batchWindowSeconds: 1 });
    await vi.waitFor(() => expect(source.stats).toMatchObject({ invocations: 1, deleted: 1 }), soon);
  });
});

describe.concurrent("the whole batch succeeded, so it is deleted", () => {
  test.for<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["an empty answer", {}],
    ["an empty list", []],
    ["no list", { batchItemFailures: null }],
    ["an empty list of failures", { batchItemFailures: [] }],
  ])("%s", async ([, answer], context) => {
    const { lines, send, left, start } = await createQueue(context);
    await send("1", "2");
    const source = start({ handler: async () => answer });
    await vi.waitFor(() => expect(source.stats.deleted).toBe(2), soon);
    expect(source.stats).toMatchObject({ errors: 0, failed: 0 });
    expect(await left()).toEqual({ visible: 0, invisible: 0 });
    expect(lines).toEqual([]);
  });
});

describe.concurrent("the whole batch failed, so nothing is deleted", () => {
  const first = (event: SQSEvent) => event.Records[0]?.messageId;
  test.for<[string, EventSourceOptions["handler"], RegExp]>([
    ["an unknown id", async () => ({ batchItemFailures: [{ itemIdentifier: "x" }] }), /not in the batch: x/],
    [
      "an unknown id beside a known one",
      async (event) => ({ batchItemFailures: [{ itemIdentifier: first(event) }, { itemIdentifier: "x" }] }),
      /not in the batch: x/,
    ],
    [
      "another key",
      async (event) => ({ batchItemFailures: [{ messageId: first(event) }] }),
      /no partial response: .*messageId/,
    ],
    ["an empty id", async () => ({ batchItemFailures: [{ itemIdentifier: "" }] }), /no partial response/],
    ["a null id", async () => ({ batchItemFailures: [{ itemIdentifier: null }] }), /no partial response/],
    ["no list", async (event) => ({ batchItemFailures: first(event) }), /no partial response/],
    ["a text", async () => "ok", /no partial response: "ok"/],
    ["what JSON cannot say", async () => ({ batchItemFailures: [], count: 1n }), /BigInt/],
    [
      "a rejection",
      async () => {
        throw new Error("no database");
      },
      /no database/,
    ],
    [
      "a throw",
      () => {
        throw new Error("no settings");
      },
      /no settings/,
    ],
    ["a timeout", () => new Promise(() => {}), /timed out after 0.05 seconds/],
  ])("%s", async ([, handler, message], context) => {
    const { lines, send, left, start } = await createQueue(context);
    await send("1", "2");
    const source = start({ handler, timeoutSeconds: 0.05 });
    await vi.waitFor(() => expect(source.stats.failed).toBe(2), soon);
    await source.stop();
    expect(source.stats.deleted).toBe(0);
    expect(source.stats.errors).toBe(source.stats.invocations);
    expect(await left()).toEqual({ visible: 0, invisible: 2 });
    expect(lines[0]).toMatch(/^deliver: the batch of \d failed: /);
    expect(lines[0]).toMatch(message);
  });
});

describe.concurrent("a partial response", () => {
  test("leaves the failed messages to their visibility timeout, which the handler may change", async (context) => {
    const { queueUrl, send, left, start } = await createQueue(context);
    await send("good", "bad", "worse", "fine");
    const receives: string[] = [];
    const source = start({
      handler: async (event) => {
        const failed = event.Records.filter(({ body }) => body === "bad" || body === "worse");
        for (const { body, receiptHandle, attributes } of failed) {
          receives.push(`${body} ${attributes.ApproximateReceiveCount}`);
          if (body === "bad" && attributes.ApproximateReceiveCount === "1") {
            await sqs.send(
              new ChangeMessageVisibilityCommand({
                QueueUrl: queueUrl,
                ReceiptHandle: receiptHandle,
                VisibilityTimeout: 0,
              }),
            );
          }
        }
        return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
      },
    });
    await vi.waitFor(() => expect(source.stats.failed).toBe(3), soon);
    expect(receives.sort()).toEqual(["bad 1", "bad 2", "worse 1"]);
    await source.stop();
    expect(source.stats).toMatchObject({ deleted: 2, errors: 0 });
    expect(await left()).toEqual({ visible: 0, invisible: 2 });
  });

  test("is not read unless the mapping says so", async (context) => {
    const { send, start } = await createQueue(context);
    await send("1");
    const handler = async (event: SQSEvent) => ({
      batchItemFailures: event.Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
    });
    const source = start({ handler, partialResponses: false });
    await vi.waitFor(() => expect(source.stats.deleted).toBe(1), soon);
  });
});

describe.concurrent("pause and resume", () => {
  test("nothing is received in between", async (context) => {
    const { send, left, start } = await createQueue(context);
    const handler = vi.fn(async () => {});
    const source = start({ handler });
    await source.pause();
    await send("1");
    expect(await left()).toEqual({ visible: 1, invisible: 0 });
    expect(handler).not.toHaveBeenCalled();
    source.resume();
    await vi.waitFor(() => expect(source.stats.deleted).toBe(1), soon);
  });

  test("what a pending receive brings is handled", async (context) => {
    const { send, start } = await createQueue(context);
    const source = start({ handler: async () => {} });
    const paused = source.pause();
    await send("1");
    await paused;
    await vi.waitFor(() => expect(source.stats.deleted).toBe(1), soon);
  });

  test("a paused source can be stopped", async (context) => {
    const { start } = await createQueue(context);
    const source = start({ handler: async () => {} });
    await source.pause();
    await source.stop();
  });
});

describe.concurrent("stop", () => {
  test("waits for the running invocation and deletes what it did", async (context) => {
    const { send, left, start } = await createQueue(context);
    await send("1");
    const { held, handler, endAll } = heldHandler();
    const source = start({ handler });
    await vi.waitFor(() => expect(held).toHaveLength(1), soon);
    await send("2");
    await vi.waitFor(() => expect(held).toHaveLength(2), soon);
    await send("3");
    let stopped = false;
    const stopping = source.stop().then(() => {
      stopped = true;
    });
    held.shift()?.end();
    await vi.waitFor(() => expect(source.stats.deleted).toBe(1), soon);
    expect(stopped).toBe(false);
    endAll();
    await stopping;
    expect(source.stats).toMatchObject({ invocations: 2, deleted: 2, running: 0 });
    expect(await left()).toEqual({ visible: 1, invisible: 0 });
  });

  test("loses no message that the pending receive brings, and is quick", async (context) => {
    const { send, start } = await createQueue(context);
    const source = start({ handler: async () => {} });
    const before = performance.now();
    const stopping = source.stop();
    await send("1");
    await stopping;
    expect(performance.now() - before).toBeLessThan(3_000);
    expect(source.stats).toMatchObject({ received: 1, deleted: 1 });
  });

  test("does not wait for the end of a window", async (context) => {
    const { send, start } = await createQueue(context);
    await send("1");
    const source = start({ handler: async () => {}, batchWindowSeconds: 60 });
    await vi.waitFor(() => expect(source.stats.received).toBe(1), soon);
    await source.stop();
    expect(source.stats.deleted).toBe(1);
  });
});

/** Stands where SQS should be, and hangs up on each request. */
async function startOutage() {
  let requests = 0;
  const server = createServer((request) => {
    requests += 1;
    request.socket.destroy();
  });
  const port = await listen(server, 0, "none");
  const client = connect(`http://127.0.0.1:${port}`, 1);
  return { port, client, requests: () => requests, close: promisify(server.close.bind(server)) };
}

describe.concurrent("SQS is down", () => {
  test("it tries on, says so once, and goes on when SQS is there", async (context) => {
    const { queueUrl, lines, start } = await createQueue(context);
    const outage = await startOutage();
    const source = start({ sqs: outage.client, handler: async () => {} });
    await vi.waitFor(() => expect(outage.requests()).toBeGreaterThanOrEqual(3), soon);
    expect(lines).toEqual([expect.stringMatching(/^deliver: cannot receive from .*queue-\d+, trying on: /)]);
    await outage.close();

    const later = buildApp({ logger: false, defaultRegion: region });
    try {
      await later.listen({ host: "127.0.0.1", port: outage.port });
      // The queue is missing at first: the same trouble to a poller.
      const QueueName = new URL(queueUrl).pathname.split("/").at(-1);
      await outage.client.send(new CreateQueueCommand({ QueueName }));
      await outage.client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: "late" }));
      await vi.waitFor(() => expect(source.stats.deleted).toBe(1), soon);
      expect(lines.slice(1)).toEqual([`deliver: receives again from ${queueUrl}`]);
    } finally {
      await source.stop();
      outage.client.destroy();
      await later.close();
    }
  });

  test("a stop does not wait for the next try", async (context) => {
    const { start } = await createQueue(context);
    const outage = await startOutage();
    const source = start({ sqs: outage.client, handler: async () => {} });
    await vi.waitFor(() => expect(outage.requests()).toBeGreaterThanOrEqual(5), soon);
    const before = performance.now();
    await source.stop(); // the next try is 1.6 s away
    expect(performance.now() - before).toBeLessThan(1_000);
    outage.client.destroy();
    await outage.close();
  });
});

test("a batch names each message once, however many come", async (context) => {
  const { send, start } = await createQueue(context);
  const seen: string[] = [];
  await send(...Array.from({ length: 200 }, (_, index) => String(index)));
  const source = start({
    maximumConcurrency: 4,
    handler: async (event) => void seen.push(...(bodies(event) ?? [])),
  });
  await vi.waitFor(() => expect(source.stats.deleted).toBe(200), soon);
  expect(new Set(seen).size).toBe(200);
  expect(seen).toHaveLength(200);
});
