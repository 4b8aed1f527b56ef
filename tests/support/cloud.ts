import { PurgeQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { empty } from "../../packages/ledger/src/testing/rows.ts";
import { type Bus, createBus } from "../../packages/local/src/bus.ts";
import { environmentOf } from "../../packages/local/src/environment.ts";
import { createContext } from "../../packages/local/src/event-source/context.ts";
import { type EventSource, startEventSource } from "../../packages/local/src/event-source.ts";
import { type Receivers, startReceivers } from "../../packages/local/src/receivers.ts";
import { type LocalSes, startSes } from "../../packages/local/src/ses/index.ts";
import {
  type CreatedQueue,
  createQueues,
  createShadowQueue,
  type LocalSqs,
  QUEUES,
  startSqs,
} from "../../packages/local/src/sqs/index.ts";
import type { Swept } from "../../packages/local/src/stack.ts";
import { createDatabase, type TestDatabase } from "./database.ts";
import { wake } from "./queue.ts";

export type CloudOptions = {
  /** Overrides of the functions' settings. */
  settings?: Record<string, unknown>;
  /** Seconds that a received message stays invisible, in all queues. */
  visibility?: number;
  /** A second queue that nobody consumes, for merchants in shadow. */
  shadowQueue?: boolean;
};

type DeliverHandler = typeof import("@owed/functions/deliver")["handler"];
export type DeliverEvent = Parameters<DeliverHandler>[0];
export type DeliverAnswer = Awaited<ReturnType<DeliverHandler>>;

export type Cloud = TestDatabase & {
  sqs: LocalSqs;
  ses: LocalSes;
  sms: Receivers["sms"];
  webhooks: Receivers["webhooks"];
  bus: Bus;
  client: SQSClient;
  queues: Awaited<ReturnType<typeof createQueues<keyof typeof QUEUES>>>;
  shadowQueue: CreatedQueue | undefined;
  /** What the functions are configured with: for one in a process of its own. */
  environment: Record<string, string>;
  /** Starts the consumer of a queue; until then it is down. */
  run(consumer: "ingest" | "deliver" | "feedback"): EventSource;
  /** One beat of the schedule, by the real handler. */
  sweep(): Promise<Swept>;
  /** One invocation of deliver with an event of the test's making. */
  deliver(event: DeliverEvent): Promise<DeliverAnswer>;
  /** As it was at the start, for the next test of a file. */
  reset(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * The cloud on the test run's PostgreSQL: a database of its own, SQS, SES and the bus over HTTP, the functions as
 * they are deployed. Nothing happens by itself: a test runs the consumers, and beats the schedule. One a process,
 * as SST's `Resource` reads the environment once; each test file is a process.
 */
export async function startCloud({
  settings = {},
  visibility,
  shadowQueue: shadowed,
}: CloudOptions = {}): Promise<Cloud> {
  const database = await createDatabase();
  const sqs = await startSqs();
  const { region } = sqs;
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new SQSClient({ endpoint: sqs.endpoint, region, credentials });
  const queues = await createQueues(client, withVisibility(visibility));
  const shadowQueue = shadowed ? await createShadowQueue(client) : undefined;
  const bus = createBus({ sqs: client });
  bus.rule({ detailType: "shipment.status_changed", queueUrl: queues.event.url });
  bus.rule({ source: "aws.ses", queueUrl: queues.feedback.url });
  const ses = await startSes({ onEvent: (event) => bus.put(event) });
  const receivers = await startReceivers({ bus, client, feedbackQueueUrl: queues.feedback.url });
  const { sms, webhooks } = receivers;

  const { host, port, user, password } = database.options;
  if (typeof password !== "string") throw new Error("the test cluster has a password");
  // The test run's server is not this test's to stop.
  const server = { host, port, user, password, database: database.options.database, pid: 0 };
  const nothing = async () => {};
  const environment = {
    ...environmentOf({
      postgres: { ...server, stop: nothing, kill: nothing },
      sqs,
      ses,
      sms,
      webhooks,
      queues,
      shadowQueue,
      settings,
    }),
    POWERTOOLS_LOG_LEVEL: "SILENT",
  };
  Object.assign(process.env, environment);
  // The functions read their environment when they are loaded.
  const handlers = {
    ingest: (await import("@owed/functions/ingest")).handler,
    deliver: (await import("@owed/functions/deliver")).handler,
    feedback: (await import("@owed/functions/feedback")).handler,
    sweep: (await import("@owed/functions/sweep")).handler,
  };
  let consumers: { source: EventSource; queueUrl: string }[] = [];
  const stopConsumers = async () => {
    const stopped = consumers.map(({ source }) => source.stop());
    for (const { queueUrl } of consumers) await wake(client, queueUrl);
    consumers = [];
    await Promise.all(stopped);
  };
  const invocation = (functionName: string, timeoutSeconds: number) =>
    createContext({ functionName, region, timeoutSeconds });

  return {
    ...database,
    sqs,
    ses,
    sms,
    webhooks,
    bus,
    client,
    queues,
    shadowQueue,
    environment,
    run(consumer) {
      const queue =
        queues[consumer === "deliver" ? "notification" : consumer === "ingest" ? "event" : "feedback"];
      const source = startEventSource({
        sqs: client,
        queueUrl: queue.url,
        queueArn: queue.arn,
        region,
        functionName: consumer,
        handler: handlers[consumer],
        maximumConcurrency: consumer === "deliver" ? 4 : 2,
        log: () => {},
      });
      consumers.push({ source, queueUrl: queue.url });
      return source;
    },
    sweep: () => handlers.sweep({}, invocation("sweep", 60)),
    deliver: (event) => handlers.deliver(event, invocation("deliver", 30)),
    async reset() {
      sqs.faults.clear();
      ses.faults.clear();
      sms.faults.clear();
      webhooks.faults.clear();
      await bus.idle();
      await stopConsumers();
      for (const { url, deadLetters } of Object.values(queues))
        for (const QueueUrl of [url, deadLetters.url]) await client.send(new PurgeQueueCommand({ QueueUrl }));
      ses.clear();
      sms.clear();
      webhooks.clear();
      await empty(database);
    },
    async stop() {
      await stopConsumers();
      await bus.stop();
      await ses.stop();
      await receivers.stop();
      client.destroy();
      await sqs.stop();
      await database.drop();
    },
  };
}

const withVisibility = (visibility: number | undefined) =>
  visibility === undefined
    ? QUEUES
    : {
        notification: { ...QUEUES.notification, visibility },
        event: { ...QUEUES.event, visibility },
        feedback: { ...QUEUES.feedback, visibility },
      };
