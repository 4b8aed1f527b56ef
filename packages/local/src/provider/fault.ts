import { setTimeout as delay } from "node:timers/promises";
import type { Exchange } from "../sqs/http.ts";
import { Rules } from "../sqs/rules.ts";

/** An error as a provider reports it. */
export interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What shall go wrong with a message. The parts apply in this order. */
export interface Fault<Fate, Error extends Failure = Failure> {
  /** Wait before anything else, in milliseconds. */
  readonly delay?: number;
  /** Reset the connection: `before` the message is accepted, or `after`, so that the client cannot know. */
  readonly drop?: "before" | "after";
  /** Answer with this error instead. */
  readonly error?: Error;
  /** Accept the message and emit no event. */
  readonly noEvent?: boolean;
  /** Emit the first event when this is settled. */
  readonly holdEvent?: Promise<unknown>;
  /** What becomes of the accepted message: its events follow the first one, in order. */
  readonly fate?: Fate;
  /** Emit those that follow when this is settled. */
  readonly holdFate?: Promise<unknown>;
  /** Keep the answer back until this is settled; the message is accepted. */
  readonly hold?: Promise<unknown>;
  /** Spoil the answer's body on its way, whatever its status: to garbage, or to its first half. */
  readonly garble?: (body: string) => string;
}

/** Faults for tests and drills; a rule sees each message that is valid. */
export type Faults<Message, Fate, Error extends Failure = Failure> = Rules<Message, Fault<Fate, Error>>;

export const createFaults = <Message, Fate, Error extends Failure = Failure>(): Faults<
  Message,
  Fate,
  Error
> => new Rules();

/** How a provider answers, in its own protocol. */
export interface Protocol<Error extends Failure> {
  /** Takes the message, and returns the answer's body. */
  accept(): Promise<string>;
  reply(status: number, body: string, headers?: Readonly<Record<string, string>>): void;
  errorBody(error: Error): string;
}

/** Carries out one send as its fault will have it. @throws what `accept` throws */
export async function underFault<Error extends Failure>(
  exchange: Exchange,
  fault: Fault<unknown, Error>,
  { accept, reply, errorBody }: Protocol<Error>,
): Promise<void> {
  const { garble = (body) => body } = fault;
  if (fault.delay) await delay(fault.delay, undefined, { ref: false });
  if (fault.drop === "before") return exchange.drop();
  if (fault.error) return reply(fault.error.status, garble(errorBody(fault.error)), fault.error.headers);
  const body = await accept();
  if (fault.hold) await fault.hold;
  if (fault.drop === "after") exchange.drop();
  else reply(200, garble(body));
}
