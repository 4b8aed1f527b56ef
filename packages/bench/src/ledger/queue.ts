import type { Message } from "@owed/ledger";

/**
 * Messages in memory, in place of SQS: what is measured is the ledger. Holds a few thousand at most, as the real queue
 * stays shallow: whoever fills it waits.
 */
export class Queue {
  readonly #messages: Message[] = [];
  readonly #most: number;
  #closed = false;
  #changed = Promise.withResolvers<void>();

  constructor(most: number) {
    this.#most = most;
  }

  async push(messages: readonly Message[]): Promise<void> {
    while (this.#messages.length >= this.#most) await this.#changed.promise;
    this.#messages.push(...messages);
    this.#notify();
  }

  /** As many as there are, but no more than asked for; none once the queue is closed and empty. */
  async take(most: number): Promise<Message[]> {
    while (this.#messages.length === 0 && !this.#closed) await this.#changed.promise;
    const taken = this.#messages.splice(0, most);
    this.#notify();
    return taken;
  }

  close(): void {
    this.#closed = true;
    this.#notify();
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
