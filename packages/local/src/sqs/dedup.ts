/** How long SQS remembers a deduplication id. */
const WINDOW_MS = 5 * 60 * 1000;

export interface Sent {
  readonly messageId: string;
  readonly sequenceNumber: string | undefined;
}

/**
 * The deduplication window of all FIFO queues: five minutes, however many ids (fauxqs keeps the last 10,000
 * of a queue). As on AWS it outlives the message: a purged or lost message's id stays known.
 * `DeduplicationScope=messageGroup` is not followed: an id counts for the whole queue.
 */
export class DedupWindow {
  /** In the order of `at`, since a Map keeps the order of insertion and ids are never moved. */
  readonly #sent = new Map<string, Sent & { readonly at: number }>();

  readonly #clock: () => number;

  /** `clock`: in milliseconds. */
  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
  }

  find(queue: string, id: string, now = this.#clock()): Sent | undefined {
    const sent = this.#sent.get(key(queue, id));
    return sent && now - sent.at < WINDOW_MS ? sent : undefined;
  }

  /** Remembers an id from its first acceptance on; later ones do not prolong the window. */
  remember(queue: string, id: string, sent: Sent, now = this.#clock()): void {
    this.#forgetExpired(now);
    if (!this.#sent.has(key(queue, id))) this.#sent.set(key(queue, id), { ...sent, at: now });
  }

  /** A deleted queue takes its ids along. */
  forgetQueue(queue: string): void {
    for (const id of this.#sent.keys()) if (id.startsWith(key(queue, ""))) this.#sent.delete(id);
  }

  #forgetExpired(now: number): void {
    for (const [id, { at }] of this.#sent) {
      if (now - at < WINDOW_MS) return;
      this.#sent.delete(id);
    }
  }
}

const key = (queue: string, id: string) => `${queue} ${id}`;
