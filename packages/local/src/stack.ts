import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SQSClient } from "@aws-sdk/client-sqs";
import { askQueue } from "@owed/functions/ask-queue";
import { Ledger, type LedgerOptions, lookAtQueued } from "@owed/ledger";
import { type Bus, createBus } from "./bus.ts";
import { announce, environmentOf } from "./environment.ts";
import { createContext } from "./event-source/context.ts";
import { type EventSource, startEventSource } from "./event-source.ts";
import { type Functions, loadSources } from "./functions.ts";
import { type LocalPostgres, startPostgres } from "./postgres.ts";
import { startReceivers } from "./receivers.ts";
import { type Schedule, startSchedule } from "./schedule.ts";
import { type LocalSes, startSes } from "./ses/index.ts";
import { shownOthers } from "./shown.ts";
import type { LocalSms } from "./sms/index.ts";
import { createQueues, createShadowQueue, type LocalSqs, QUEUES, startSqs } from "./sqs/index.ts";
import type { LocalWebhooks } from "./webhook/index.ts";

/** What a sweep told when it ended; see @owed/functions. */
export type Swept = Awaited<ReturnType<typeof import("@owed/functions/sweep").handler>>;

export type StackOptions = {
  /** Where the ledger's data is kept. */
  folder: string;
  /** 0 for any free port. */
  ports?: { postgres: number; sqs: number; ses: number; webhooks: number };
  /** Seconds between two beats, for scaled time; without it each minute, on the minute. */
  everySeconds?: number;
  /** Overrides of the functions' settings. */
  settings?: Record<string, unknown>;
  /** Where the functions come from, asked once their environment stands. Default: their sources. */
  functions?: () => Promise<Functions>;
  /** Seconds that a received message stays invisible: of the notification queue, and of the others. */
  visibility?: number;
  /** Emails that SES takes in 24 hours; -1 for no limit. Default 50,000. */
  dailyQuota?: number;
  /** A second queue that nobody consumes, for merchants in shadow. */
  shadowQueue?: boolean;
  durable?: boolean;
  /** Level of the functions' own logs on standard output. */
  functionLogs?: "SILENT" | "ERROR" | "WARN" | "INFO";
  log?: (line: string) => void;
  onSweep?: (swept: Swept) => void;
};

export type Stack = {
  readonly postgres: LocalPostgres;
  readonly sqs: LocalSqs;
  readonly ses: LocalSes;
  readonly sms: LocalSms;
  readonly webhooks: LocalWebhooks;
  readonly bus: Bus;
  readonly schedule: Schedule;
  readonly sources: {
    readonly ingest: EventSource;
    readonly deliver: EventSource;
    readonly feedback: EventSource;
  };
  readonly queues: Awaited<ReturnType<typeof createQueues<"notification" | "event" | "feedback">>>;
  readonly client: SQSClient;
  readonly ledgerOptions: LedgerOptions;
  readonly environment: Record<string, string>;
  /** Starts PostgreSQL again on its port and folder, after it was stopped or killed. */
  restartPostgres(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * The cloud on one machine: PostgreSQL, SQS, SES, the bus, the schedule and the functions with their event
 * sources, all on loopback. One stack a process: SST's `Resource` reads the environment once.
 *
 * @throws PortTaken, PostgresFailed, FolderInUse
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { folder, log = () => {}, visibility, durable = true } = options;
  const ports = options.ports ?? { postgres: 0, sqs: 0, ses: 0, webhooks: 0 };
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  try {
    const data = {
      folder: join(folder, "postgres"),
      database: "owed",
      durable,
      portSetting: "OWED_PORT_POSTGRES",
    };
    let postgres = await startPostgres({ ...data, port: ports.postgres });
    undo.push(() => postgres.stop());

    const sqs = await startSqs({ port: ports.sqs, setting: "OWED_PORT_SQS" });
    undo.push(() => sqs.stop());
    const credentials = { accessKeyId: "local", secretAccessKey: "local" };
    const client = new SQSClient({ endpoint: sqs.endpoint, region: sqs.region, credentials });
    undo.push(async () => client.destroy());
    const queues = await createQueues(client, visibility === undefined ? QUEUES : withVisibility(visibility));

    const bus = createBus({ sqs: client });
    undo.push(() => bus.stop());
    bus.rule({ detailType: "shipment.status_changed", queueUrl: queues.event.url });
    bus.rule({ source: "aws.ses", queueUrl: queues.feedback.url });
    const receivers = await startReceivers({
      ...{ bus, client, feedbackQueueUrl: queues.feedback.url, port: ports.webhooks },
    });
    undo.push(() => receivers.stop());
    const { sms, webhooks } = receivers;

    const ses = await startSes({
      port: ports.ses,
      setting: "OWED_PORT_MAILBOX",
      quota: options.dailyQuota === undefined ? {} : { max24HourSend: options.dailyQuota },
      onEvent: (event) => bus.put(event),
      others: (query) => shownOthers(sms, webhooks, query),
    });
    undo.push(() => ses.stop());

    const environment = environmentOf({
      ...{ postgres, sqs, ses, sms, webhooks, queues },
      shadowQueue: options.shadowQueue ? await createShadowQueue(client) : undefined,
      settings: options.settings ?? {},
    });
    Object.assign(process.env, environment, { POWERTOOLS_LOG_LEVEL: options.functionLogs ?? "SILENT" });

    const functions = await (options.functions ?? loadSources)();
    const { region } = sqs;
    await functions.migrate({}, createContext({ functionName: "migrate", region, timeoutSeconds: 300 }));

    const ledgerOptions: LedgerOptions = {
      host: postgres.host,
      port: postgres.port,
      user: postgres.user,
      password: postgres.password,
      database: postgres.database,
      tls: "off",
      applicationName: "owed-local",
      connections: 2,
      deadline: 20,
      plans: "auto",
    };
    // The queue is new and empty: rows that an earlier stack had queued are looked at now, not in twenty minutes.
    const ledger = new Ledger(ledgerOptions);
    await lookAtQueued(ledger);
    await ledger.close();

    const consume = (
      name: "ingest" | "deliver" | "feedback",
      queue: { url: string; arn: string },
      maximumConcurrency: number,
    ) =>
      startEventSource({
        sqs: client,
        queueUrl: queue.url,
        queueArn: queue.arn,
        region,
        functionName: name,
        handler: functions[name],
        maximumConcurrency,
        timeoutSeconds: 30,
        log,
      });
    const sources = {
      ingest: consume("ingest", queues.event, 2),
      deliver: consume("deliver", queues.notification, 4),
      feedback: consume("feedback", queues.feedback, 2),
    };
    undo.push(async () => {
      await emptied(client, queues);
      await Promise.all([sources.ingest.stop(), sources.deliver.stop(), sources.feedback.stop()]);
    });

    const schedule = startSchedule({
      ...(options.everySeconds === undefined ? {} : { everySeconds: options.everySeconds }),
      log,
      onError: (error) => log(`the sweep failed: ${error instanceof Error ? error.message : String(error)}`),
      async run() {
        const context = createContext({ functionName: "sweep", region, timeoutSeconds: 60 });
        const swept = await functions.sweep({}, context);
        options.onSweep?.(swept);
      },
    });
    undo.push(() => schedule.stop());
    undo.push(await announce(folder, environment));

    return {
      get postgres() {
        return postgres;
      },
      sqs,
      ses,
      sms,
      webhooks,
      bus,
      schedule,
      sources,
      queues,
      client,
      ledgerOptions,
      environment,
      async restartPostgres() {
        postgres = await startPostgres({ ...data, port: postgres.port });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Seconds that a stop waits for what is in the queues. */
const patience = 5;

/** This SQS forgets its messages when it stops: what is on its way is handled first. */
async function emptied(client: SQSClient, queues: Record<string, { url: string }>): Promise<void> {
  const end = performance.now() + patience * 1000;
  while (performance.now() < end) {
    const depths = await Promise.all(Object.values(queues).map(({ url }) => askQueue(client, url)));
    if (depths.every(({ total }) => total === 0)) return;
    await sleep(100);
  }
}

const withVisibility = (visibility: number) => ({
  notification: { ...QUEUES.notification, visibility },
  event: { ...QUEUES.event, visibility },
  feedback: { ...QUEUES.feedback, visibility },
});
