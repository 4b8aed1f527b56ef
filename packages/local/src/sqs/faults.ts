import type { Json } from "./json.ts";
import { Rules } from "./rules.ts";

/** One call of a client, before anything is done with it. */
export interface SqsCall {
  /** `SendMessageBatch`, `ReceiveMessage`, … */
  readonly action: string;
  /** The last part of QueueUrl, or QueueName; empty for calls that name no queue. */
  readonly queueName: string;
  /** The access key id that it is signed with; empty for an unsigned one. */
  readonly caller: string;
  readonly request: Json;
}

/** A call and what was answered. */
export interface SqsAnswered extends SqsCall {
  readonly status: number;
  readonly response: Json;
}

/** One message of SendMessage or SendMessageBatch. */
export type SqsEntry = Json;

/** What shall go wrong with a call. The parts apply in this order. */
export interface SqsFault {
  /** Wait before anything else, in milliseconds. */
  readonly delay?: number;
  /** Reset the connection: `before` the queue saw the call, or `after` it did what was asked. */
  readonly drop?: "before" | "after";
  /** Answer with this error instead, e.g. status 503, code `ServiceUnavailable`. */
  readonly error?: { readonly status: number; readonly code: string; readonly message: string };
  /** For a send: refuse these entries (`Failed[]`); the others go on. */
  readonly failed?: (
    entry: SqsEntry,
  ) => { readonly code: string; readonly message: string; readonly senderFault?: boolean } | undefined;
  /** For a send: report these messages as accepted, remember their deduplication ids, and lose them. */
  readonly swallow?: boolean | ((entry: SqsEntry) => boolean);
  /** Keep the answer back until this is settled; the queue has done what was asked. */
  readonly hold?: Promise<unknown>;
  /** Spoil the answer's body on its way, whatever its status: to garbage, or to its first half. */
  readonly garble?: (body: string) => string;
}

/** Faults and observers for tests and drills. */
export class SqsFaults extends Rules<SqsCall, SqsFault> {
  readonly #observers = new Set<(answered: SqsAnswered) => void>();

  /** Calls `observer` after each call that reached the queue, refused ones too. Returns what ends it. */
  observe(observer: (answered: SqsAnswered) => void): () => void {
    const own = (answered: SqsAnswered) => observer(answered);
    this.#observers.add(own);
    return () => void this.#observers.delete(own);
  }

  /** Takes all rules and observers away. */
  override clear(): void {
    super.clear();
    this.#observers.clear();
  }

  /** Tells the observers; `answered` is only built when there is one. */
  tell(answered: () => SqsAnswered): void {
    if (this.#observers.size === 0) return;
    const what = answered();
    for (const observer of this.#observers) observer(what);
  }
}
