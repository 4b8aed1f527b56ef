import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { SendMessageBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";

/** An event as a producer gives it; the bus fills in what is missing of EventBridge's envelope. */
export interface BusEvent {
  readonly source: string;
  readonly "detail-type": string;
  readonly detail: unknown;
  readonly version?: string;
  readonly id?: string;
  readonly account?: string;
  readonly time?: string;
  readonly region?: string;
  readonly resources?: readonly string[];
}

/** Events with this source and detail type (any, when not given) go to this standard queue. */
export interface BusRule {
  readonly source?: string;
  readonly detailType?: string;
  readonly queueUrl: string;
}

export interface BusOptions {
  readonly sqs: SQSClient;
  readonly account?: string;
  readonly region?: string;
  /** How many events may wait for each rule's queue before `put` waits too. */
  readonly capacity?: number;
  /** Told of an event that the queue refuses for good, or that `stop` leaves behind. Prints a line by default. */
  readonly onDropped?: (queueUrl: string, reason: string) => void;
}

export interface Bus {
  /** Adds a rule and returns what takes it away again; events that wait for its queue still go there. */
  rule(rule: BusRule): () => void;
  /**
   * Takes an event: resolves when there was room for it, which is at once unless its queue has long been down.
   *
   * @throws EventTooLarge, BusStopped
   */
  put(event: BusEvent): Promise<void>;
  /** Resolves when nothing waits for any queue. */
  idle(): Promise<void>;
  /** Takes no more, tries each queue a last time and drops what it does not take. */
  stop(): Promise<void>;
}

export class BusStopped extends Error {
  override readonly name = "BusStopped";

  constructor() {
    super("The bus has stopped and takes no more events.");
  }
}

export class EventTooLarge extends Error {
  override readonly name = "EventTooLarge";

  constructor(bytes: number) {
    super(
      `The event has ${bytes} bytes; a queue takes ${MAX_BYTES} at most. Send a reference to its content.`,
    );
  }
}

/** What SQS takes in one batch. */
const MAX_BYTES = 1024 * 1024;
const MAX_ENTRIES = 10;

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

/**
 * EventBridge's default bus, as far as rules whose targets are SQS standard queues: each event goes, whole, to the
 * queue of every rule that matches. While a queue cannot be reached the bus keeps trying, in order; a repeated
 * delivery is possible, as with EventBridge.
 */
export function createBus(options: BusOptions): Bus {
  const { account = "000000000000", region = "us-east-1" } = options;
  const rules = new Map<BusRule, Target>();
  const targets: Target[] = [];
  let stopped = false;
  return {
    rule(rule) {
      const own = { ...rule };
      const target = new Target(own.queueUrl, options);
      rules.set(own, target);
      targets.push(target);
      return () => void rules.delete(own);
    },
    async put(event) {
      if (stopped) throw new BusStopped();
      const matching = [...rules].filter(([rule]) => matches(rule, event)).map(([, target]) => target);
      if (matching.length === 0) return;
      const defaults = { version: "0", id: randomUUID(), account, time: now(), region, resources: [] };
      const waiting = toWaiting({ ...defaults, ...event });
      await Promise.all(matching.map((target) => target.put(waiting)));
    },
    async idle() {
      await Promise.all(targets.map((target) => target.idle()));
    },
    async stop() {
      stopped = true;
      await Promise.all(targets.map((target) => target.stop()));
    },
  };
}

interface Waiting {
  readonly body: string;
  readonly bytes: number;
}

/** The queue of one rule, and the events that wait for it in their order. */
class Target {
  readonly #queueUrl: string;
  readonly #sqs: SQSClient;
  readonly #capacity: number;
  readonly #onDropped: (queueUrl: string, reason: string) => void;
  readonly #stopping = new AbortController();
  #waiting: Waiting[] = [];
  /** Producers for whose events there is no room yet. */
  readonly #producers: { waiting: Waiting; taken(): void; refused(error: Error): void }[] = [];
  #delivering: Promise<void> | undefined;

  constructor(queueUrl: string, { sqs, capacity = 10_000, onDropped = printDropped }: BusOptions) {
    this.#queueUrl = queueUrl;
    this.#sqs = sqs;
    this.#capacity = capacity;
    this.#onDropped = onDropped;
  }

  async put(waiting: Waiting): Promise<void> {
    if (this.#waiting.length >= this.#capacity) {
      await new Promise<void>((taken, refused) => this.#producers.push({ waiting, taken, refused }));
    } else {
      this.#waiting.push(waiting);
    }
    this.#delivering ??= this.#deliver();
  }

  async idle(): Promise<void> {
    await this.#delivering;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#delivering;
    for (const { refused } of this.#producers.splice(0)) refused(new BusStopped());
    for (const _ of this.#waiting.splice(0)) this.#onDropped(this.#queueUrl, "the bus was stopped");
  }

  /** Runs while events wait. Never rejects. */
  async #deliver(): Promise<void> {
    // Events that are put in the same turn leave in one batch.
    await Promise.resolve();
    let pause = FIRST_RETRY_MS;
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      const left = await this.#send(batch);
      this.#waiting.splice(0, batch.length, ...left);
      this.#letProducersIn();
      if (left.length === 0) pause = FIRST_RETRY_MS;
      else if (this.#stopping.signal.aborted) break;
      else {
        // The stop of the bus ends the pause; then comes the last try.
        await delay(pause, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
        pause = Math.min(pause * 2, LONGEST_RETRY_MS);
      }
    }
    this.#delivering = undefined;
  }

  #nextBatch(): Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    for (const waiting of this.#waiting.slice(0, MAX_ENTRIES)) {
      bytes += waiting.bytes;
      if (bytes > MAX_BYTES) break;
      batch.push(waiting);
    }
    return batch;
  }

  /** Sends a batch and returns what must be sent again. */
  async #send(batch: readonly Waiting[]): Promise<Waiting[]> {
    const Entries = batch.map(({ body }, index) => ({ Id: String(index), MessageBody: body }));
    try {
      const command = new SendMessageBatchCommand({ QueueUrl: this.#queueUrl, Entries });
      const { Failed = [] } = await this.#sqs.send(command);
      const refused = Failed.filter(({ SenderFault }) => SenderFault);
      for (const { Code = "unknown error" } of refused) this.#onDropped(this.#queueUrl, Code);
      const again = new Set(Failed.filter(({ SenderFault }) => !SenderFault).map(({ Id }) => Id));
      return batch.filter((_, index) => again.has(String(index)));
    } catch {
      // Down, throttled, or the queue is not there (yet): EventBridge tries again too.
      return [...batch];
    }
  }

  #letProducersIn(): void {
    while (this.#waiting.length < this.#capacity) {
      const producer = this.#producers.shift();
      if (!producer) return;
      this.#waiting.push(producer.waiting);
      producer.taken();
    }
  }
}

const matches = ({ source, detailType }: BusRule, event: BusEvent) =>
  (source === undefined || source === event.source) &&
  (detailType === undefined || detailType === event["detail-type"]);

/** The body of an event's message. U+FFFE and U+FFFF, which SQS refuses, stand in JSON as well when escaped. */
function toWaiting(event: BusEvent): Waiting {
  const body = JSON.stringify(event).replaceAll("\uFFFE", "\\ufffe").replaceAll("\uFFFF", "\\uffff");
  const bytes = Buffer.byteLength(body);
  if (bytes > MAX_BYTES) throw new EventTooLarge(bytes);
  return { body, bytes };
}

/** To the second, as EventBridge writes it. */
const now = () => new Date().toISOString().replace(/\.\d+Z$/, "Z");

function printDropped(queueUrl: string, reason: string): void {
  console.error(`The bus dropped an event for ${queueUrl}: ${reason}`);
}
