import { recordOf } from "../../packages/functions/src/testing/records.ts";
import type { Clock } from "./clock.ts";

/** A message as Lambda hands it to a function. */
export type SQSRecord = ReturnType<typeof recordOf>;

export type Message = {
  id: string;
  /** Made when it is received: times in it move with the history's. */
  body: () => string;
  /** One message of a group is in flight at a time; null in a standard queue. */
  group: string | null;
  sent: number;
  visibleAt: number;
  receives: number;
  /** Grows with each receive: an older receipt deletes nothing. */
  receipt: number;
};

type Sent = Pick<Message, "body" | "group">;

/** Seconds within which SQS swallows a repeated deduplication id (Amazon SQS developer guide). */
const deduplicationWindow = 300;

/** A queue of Amazon SQS in a history's time: FIFO where messages have groups. */
export class Queue {
  readonly name: string;
  readonly url: string;
  readonly dead: Message[] = [];
  messages: Message[] = [];
  /** What each message said that there ever was, by its id. */
  readonly said = new Map<string, () => string>();
  readonly #clock: Clock;
  readonly #visibility: number;
  readonly #receives: number;
  readonly #sentAt = new Map<string, number>();
  #made = 0;

  /** `visibility`: seconds; `receives`: the redrive policy's maxReceiveCount. */
  constructor(name: string, clock: Clock, { visibility = 180, receives = 1000 } = {}) {
    this.name = name;
    this.url = `https://sqs.invalid/${name}`;
    this.#clock = clock;
    this.#visibility = visibility;
    this.#receives = receives;
  }

  /** A repeated deduplication id is accepted, and delivers nothing. */
  send(
    { body, group }: Sent,
    { deduplicationId, delay = 0 }: { deduplicationId?: string; delay?: number } = {},
  ) {
    const { now } = this.#clock;
    if (deduplicationId !== undefined) {
      const before = this.#sentAt.get(deduplicationId);
      if (before !== undefined && now - before < deduplicationWindow) return;
      this.#sentAt.set(deduplicationId, now);
    }
    const id = `${this.name}-${this.#made++}`;
    this.said.set(id, body);
    const visibleAt = now + delay;
    this.messages.push({
      id,
      body,
      group,
      sent: this.#clock.mark() + delay * 1000,
      visibleAt,
      receives: 0,
      receipt: 0,
    });
  }

  /** What can be received now, in order; what has used up its receives moves to the dead letters on the way. */
  receive(most: number): { message: Message; record: SQSRecord }[] {
    const { now } = this.#clock;
    const locked = new Set(
      this.messages
        .filter(({ group, visibleAt }) => group !== null && visibleAt > now)
        .map(({ group }) => group),
    );
    const taken: Message[] = [];
    for (const message of [...this.messages]) {
      if (taken.length === most) break;
      if (message.visibleAt > now || (message.group !== null && locked.has(message.group))) continue;
      if (message.receives >= this.#receives) {
        this.#remove(message);
        this.dead.push(message);
        continue;
      }
      message.receives += 1;
      message.receipt += 1;
      message.visibleAt = now + this.#visibility;
      taken.push(message);
    }
    return taken.map((message) => ({ message, record: this.#record(message) }));
  }

  /** Deletes what was received under this receipt, if nobody has received it since. */
  delete(record: SQSRecord): void {
    const message = this.#find(record.receiptHandle);
    if (message) this.#remove(message);
  }

  setVisibility(receiptHandle: string, seconds: number): void {
    const message = this.#find(receiptHandle);
    if (message && message.visibleAt > this.#clock.now) message.visibleAt = this.#clock.now + seconds;
  }

  get waiting(): number {
    return this.messages.filter(({ visibleAt }) => visibleAt <= this.#clock.now).length;
  }

  /** A redrive by SQS's own move task: a new message id, and receives from nought. */
  redrive(): number {
    const moved = this.dead.splice(0);
    for (const message of moved) this.send(message);
    return moved.length;
  }

  lose(nth: number): void {
    const message = this.messages[nth % Math.max(1, this.messages.length)];
    if (message) this.#remove(message);
  }

  /** At-least-once: a message that is delivered although it was deleted. */
  double(nth: number): void {
    const message = this.messages[nth % Math.max(1, this.messages.length)];
    if (message) this.messages.push({ ...message });
  }

  /** A standard queue keeps no order. */
  shuffle(random: () => number): void {
    const keyed = this.messages.map((message) => ({ message, key: random() }));
    this.messages = keyed.toSorted((a, b) => a.key - b.key).map(({ message }) => message);
  }

  #find(receiptHandle: string): Message | undefined {
    return this.messages.find((message) => handleOf(message) === receiptHandle);
  }

  #remove(message: Message): void {
    this.messages.splice(this.messages.indexOf(message), 1);
  }

  #record(message: Message): SQSRecord {
    const { id: messageId, receives, group, sent } = message;
    const sentAt = this.#clock.asOfNow(sent);
    const record = recordOf(message.body(), {
      messageId,
      receives,
      sentAt,
      ...(group !== null && { group }),
    });
    return { ...record, receiptHandle: handleOf(message) };
  }
}

const handleOf = ({ id, receipt }: Message) => `${id}#${receipt}`;
