/** From here on a send waits for its events, so that events nobody takes do not fill the memory. */
const MAX_PENDING = 10_000;

/** Gives a provider's events to whoever takes them. */
export class Emitter<Event> {
  readonly #provider: string;
  readonly #onEvent: (event: Event) => void | Promise<void>;
  #pending = 0;

  /** @param provider its name, for the report of a lost event */
  constructor(provider: string, onEvent: (event: Event) => void | Promise<void>) {
    this.#provider = provider;
    this.#onEvent = onEvent;
  }

  /**
   * Emits a message's events in order, each when the one before was taken. Resolves at once, unless very many wait.
   * Never rejects: as with AWS, a lost event is nothing that the sender hears of.
   */
  async emit(messageId: string, events: AsyncIterable<Event>): Promise<void> {
    this.#pending += 1;
    const emitted = this.#emitAll(messageId, events);
    if (this.#pending > MAX_PENDING) await emitted;
  }

  async #emitAll(messageId: string, events: AsyncIterable<Event>): Promise<void> {
    try {
      for await (const event of events) await this.#onEvent(event);
    } catch (error) {
      console.error(`${this.#provider}: an event of ${messageId} is lost:`, error);
    } finally {
      this.#pending -= 1;
    }
  }
}
