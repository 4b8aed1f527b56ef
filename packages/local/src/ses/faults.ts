import { Rules } from "../sqs/rules.ts";
import type { Email } from "./email.ts";
import type { Fate } from "./fate.ts";

/** What shall go wrong with an email. The parts apply in this order. */
export interface SesFault {
  /** Wait before anything else, in milliseconds. */
  readonly delay?: number;
  /** Reset the connection: `before` the email is accepted, or `after`, so that the client cannot know. */
  readonly drop?: "before" | "after";
  /** Answer with this error instead, e.g. status 400, code `MessageRejected`, headers `{ "retry-after": "120" }`. */
  readonly error?: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** Accept the email and emit no event. */
  readonly noEvent?: boolean;
  /** Emit the first event when this is settled. */
  readonly holdEvent?: Promise<unknown>;
  /** What becomes of the accepted email: its events follow the first one, in order. */
  readonly fate?: Fate;
  /** Emit those that follow when this is settled. */
  readonly holdFate?: Promise<unknown>;
  /** Keep the answer back until this is settled; the email is accepted. */
  readonly hold?: Promise<unknown>;
  /** Spoil the answer's body on its way, whatever its status: to garbage, or to its first half. */
  readonly garble?: (body: string) => string;
}

/** Faults for tests and drills; a rule sees each email that is valid. */
export type SesFaults = Rules<Email, SesFault>;

export const createFaults = (): SesFaults => new Rules<Email, SesFault>();
