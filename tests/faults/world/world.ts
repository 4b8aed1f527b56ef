import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PurgeQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { empty } from "../../../packages/ledger/src/testing/rows.ts";
import { type Bus, createBus } from "../../../packages/local/src/bus.ts";
import { environmentOf } from "../../../packages/local/src/environment.ts";
import { type LocalSes, startSes } from "../../../packages/local/src/ses/index.ts";
import { createQueues, type LocalSqs, QUEUES, startSqs } from "../../../packages/local/src/sqs/index.ts";
import type { Swept } from "../../../packages/local/src/stack.ts";
import { Consumers } from "./consumers.ts";
import { Database, patiently } from "./database.ts";
import { Functions } from "./functions.ts";
import { HiddenMessages } from "./hidden.ts";
import { SkippedTime } from "./time.ts";

/** Seconds that a queue really hides a message: for longer than any test. Until when it shall, `HiddenMessages` knows. */
const hides = 12 * 60 * 60;

/** The test's own calls of SQS are signed with this access key id: no fault meets them. */
export const observing = "observer";

/** A provider's call may take less here, so that one that never ends costs a test a second. */
const settings = { deliver: { call: 1, concurrency: 2 } };

/**
 * The cloud, to be broken: PostgreSQL of its own behind a proxy, SQS, SES and the bus over HTTP, each function in
 * processes of its own. Time passes when a test says so; what the queues do meanwhile follows.
 */
export class World {
  readonly time: SkippedTime;
  readonly database: Database;
  readonly sqs: LocalSqs;
  readonly ses: LocalSes;
  readonly bus: Bus;
  /** What the consumers, the bus and the operators reach SQS by. */
  readonly client: SQSClient;
  /** What the test itself reaches it by. */
  readonly observer: SQSClient;
  readonly queues: Awaited<ReturnType<typeof createQueues<keyof typeof QUEUES>>>;
  readonly functions: Functions;
  readonly consumers: Consumers;
  readonly hidden: HiddenMessages;
  readonly #folder: string;
  /** What the functions' processes are started with. */
  readonly #environment: Record<string, string>;
  #atOnce = true;

  private constructor(
    parts: Omit<World, "beat" | "pass" | "publishAtOnce" | "clearFaults" | "reset" | "stop"> & {
      folder: string;
      environment: Record<string, string>;
    },
  ) {
    this.time = parts.time;
    this.database = parts.database;
    this.sqs = parts.sqs;
    this.ses = parts.ses;
    this.bus = parts.bus;
    this.client = parts.client;
    this.observer = parts.observer;
    this.queues = parts.queues;
    this.functions = parts.functions;
    this.consumers = parts.consumers;
    this.hidden = parts.hidden;
    this.#folder = parts.folder;
    this.#environment = parts.environment;
  }

  static async start(): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), "owed-faults-"));
    const time = new SkippedTime();
    const [database, sqs] = await Promise.all([
      Database.start(join(folder, "postgres")),
      startSqs({ clock: () => time.now() * 1000 }),
    ]);
    const { endpoint, region } = sqs;
    const clientOf = (accessKeyId: string) =>
      new SQSClient({ endpoint, region, credentials: { accessKeyId, secretAccessKey: "local" } });
    const client = clientOf("local");
    const observer = clientOf(observing);
    const hidden = new HiddenMessages(observer, time);
    const queues = await createQueues(client, {
      notification: { ...QUEUES.notification, visibility: hides },
      event: { ...QUEUES.event, visibility: hides },
      feedback: { ...QUEUES.feedback, visibility: hides },
    });
    const bus = createBus({ sqs: client });
    bus.rule({ detailType: "shipment.status_changed", queueUrl: queues.event.url });
    bus.rule({ source: "aws.ses", queueUrl: queues.feedback.url });
    const ses = await startSes({ onEvent: (event) => bus.put(event), quota: { max24HourSend: -1 } });
    const postgres = { ...database.server, port: database.proxy.port };
    const environment = environmentOf({ postgres, sqs, ses, queues, settings });
    const functions = new Functions({ environment }, time);
    const consumers = new Consumers({ client, observer, queues, region, functions, time });
    const world = new World({
      ...{ time, database, sqs, ses, bus, client, observer, queues, functions, consumers, hidden },
      ...{ folder, environment },
    });
    world.clearFaults();
    return world;
  }

  /** Whether ingest publishes what is owed at once, as it does by default, or the sweeps alone, from now on. */
  async publishAtOnce(atOnce: boolean): Promise<void> {
    if (atOnce === this.#atOnce) return;
    this.#atOnce = atOnce;
    this.#environment.SST_RESOURCE_Settings = JSON.stringify({ ...settings, ingest: { atOnce } });
    await this.functions.renew();
  }

  /** One beat of the schedule; null when the sweep failed or its process ended. */
  async beat(): Promise<Swept | null> {
    try {
      return (await this.functions.invoke("sweep", {})) as Swept;
    } catch {
      return null;
    }
  }

  /** Lets seconds pass everywhere: in the ledger, for hidden messages, and for processes that stand still. */
  async pass(seconds: number): Promise<void> {
    this.time.skip(seconds);
    await this.database.pass(seconds);
    await this.hidden.show();
    await this.functions.thaw();
  }

  /** Ends what was done to SQS and SES; what has ended by itself stays as it is. */
  clearFaults(): void {
    this.sqs.faults.clear();
    this.ses.faults.clear();
    const named = Object.values(this.queues).map(({ url }) => ({ url, name: url.split("/").at(-1) ?? "" }));
    this.hidden.watch(this.sqs, named);
  }

  /** As it was at the start. */
  async reset(): Promise<void> {
    this.clearFaults();
    this.functions.stopNoMore();
    await this.consumers.stop();
    await this.functions.thaw({ all: true });
    await this.bus.idle();
    for (const { url, deadLetters } of Object.values(this.queues))
      for (const QueueUrl of [url, deadLetters.url])
        await this.observer.send(new PurgeQueueCommand({ QueueUrl }));
    this.hidden.forget();
    this.ses.clear();
    await patiently(() => empty(this.database));
  }

  async stop(): Promise<void> {
    await this.consumers.stop();
    await this.functions.stop();
    await this.bus.stop();
    await this.ses.stop();
    this.client.destroy();
    this.observer.destroy();
    await this.sqs.stop();
    await this.database.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
