import type { SQSClient } from "@aws-sdk/client-sqs";
import { askQueue } from "@owed/functions/ask-queue";
import type { SqsFunction } from "../../../packages/local/src/event-source/invoke.ts";
import { type EventSource, startEventSource } from "../../../packages/local/src/event-source.ts";
import type { createQueues, QUEUES } from "../../../packages/local/src/sqs/index.ts";
import { eventually } from "../../support/eventually.ts";
import { wake } from "../../support/queue.ts";
import type { Functions } from "./functions.ts";
import type { SkippedTime } from "./time.ts";

type SQSEvent = Parameters<SqsFunction>[0];

export type Consumer = "ingest" | "deliver" | "feedback";
export const allConsumers: readonly Consumer[] = ["ingest", "deliver", "feedback"];

const queueOf = { ingest: "event", deliver: "notification", feedback: "feedback" } as const;

type Options = {
  client: SQSClient;
  /** The test's own. */
  observer: SQSClient;
  queues: Awaited<ReturnType<typeof createQueues<keyof typeof QUEUES>>>;
  region: string;
  functions: Functions;
  time: SkippedTime;
};

/** The event source mappings of the three queues: each can be down and up again. */
export class Consumers {
  readonly #options: Options;
  readonly #sources = new Map<Consumer, EventSource>();
  readonly #keptDown = new Set<Consumer>();
  readonly #stopping = new Set<Promise<void>>();
  /** Batches that were handed out, the newest last: Lambda may invoke twice with the same. */
  readonly #handed = new Map<Consumer, SQSEvent[]>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Those that are not kept down. */
  start(...names: readonly Consumer[]): void {
    for (const name of names)
      if (!this.#sources.has(name) && !this.#keptDown.has(name))
        this.#sources.set(name, this.#startOne(name));
  }

  /** Stops them; nobody starts them until they are by what is returned. */
  async keepDown(...names: readonly Consumer[]): Promise<() => void> {
    for (const name of names) this.#keptDown.add(name);
    await this.stop(...names);
    return () => {
      for (const name of names) this.#keptDown.delete(name);
      this.start(...names);
    };
  }

  #startOne(name: Consumer): EventSource {
    const { client, queues, region, functions } = this.#options;
    const { url: queueUrl, arn: queueArn } = queues[queueOf[name]];
    return startEventSource({
      ...{ sqs: client, queueUrl, queueArn, region, functionName: name },
      handler: (event) => {
        const aged = this.#aged(event);
        this.#handed.set(name, [...(this.#handed.get(name) ?? []).slice(-4), aged]);
        return functions.invoke(name, aged);
      },
      log: () => {},
    });
  }

  /** SQS's times as they would be if the time that was skipped had passed. */
  #aged(event: SQSEvent): SQSEvent {
    const { time } = this.#options;
    const back = (moment: string) => String(Math.round(Number(moment) - time.since(Number(moment)) * 1000));
    return {
      Records: event.Records.map((record) => ({
        ...record,
        attributes: {
          ...record.attributes,
          SentTimestamp: back(record.attributes.SentTimestamp),
          ApproximateFirstReceiveTimestamp: back(record.attributes.ApproximateFirstReceiveTimestamp),
        },
      })),
    };
  }

  /**
   * Hands the newest batch to the function once more, while the first may still be at work on it. Returns whether
   * there was one.
   */
  async invokeAgain(name: Consumer): Promise<boolean> {
    const event = this.#handed.get(name)?.at(-1);
    if (event) await this.#options.functions.invoke(name, event).catch(() => {});
    return event !== undefined;
  }

  /** Waits until nobody is at work and no message can be received by those that run; for so many seconds at most. */
  async settled(seconds = 20): Promise<boolean> {
    const { observer, queues } = this.#options;
    const settled = async () => {
      for (const [name, source] of this.#sources) {
        if (source.stats.running > 0) throw new Error(`${name} is at work`);
        const { waiting } = await askQueue(observer, queues[queueOf[name]].url);
        if (waiting > 0) throw new Error(`${name} has messages`);
        if (source.stats.running > 0) throw new Error(`${name} is at work`);
      }
    };
    return eventually(settled, seconds).then(
      () => true,
      () => false,
    );
  }

  /** Resolves when those that were stopped, these and earlier ones, have ended what they were at. */
  async stop(...names: readonly Consumer[]): Promise<void> {
    await this.beginStop(...(names.length > 0 ? names : allConsumers));
    await Promise.all(this.#stopping);
  }

  /** Nothing new is received; what they are at may go on for as long as SQS keeps an answer back. */
  async beginStop(...names: readonly Consumer[]): Promise<void> {
    const { observer, queues } = this.#options;
    for (const name of names) {
      const source = this.#sources.get(name);
      if (!source) continue;
      this.#sources.delete(name);
      const stopped = source.stop().finally(() => this.#stopping.delete(stopped));
      this.#stopping.add(stopped);
      // A message that means nothing ends a long poll.
      await wake(observer, queues[queueOf[name]].url).catch(() => {});
    }
  }
}
