import { isLocked } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";
import type { Role } from "../states.ts";
import { claimOrdinary } from "./claim-ordinary.ts";
import { judgeMessages } from "./judge-messages.ts";

/** One message of a batch, as the queue handed it over. */
export type Message = {
  id: string;
  generation: number;
  /** The SQS message id. */
  messageId: string;
  /** SentTimestamp, in milliseconds since the epoch, by SQS's clock. */
  sentAt: number;
};

/** What the worker needs to send; read at the claim, so that a corrected address counts. */
export type Claimed = {
  verdict: "claimed";
  token: number;
  /** Its rows are sent in order: the recipient's of one shipment, by one channel. */
  group: string;
  channel: string;
  template: string;
  role: Role;
  address: string | null;
  name: string | null;
  locale: string;
  timeZone: string | null;
  shipment: { id: string; trackingNumber: string; status: string; occurredAt: Date };
  merchant: { id: string; name: string; trackingUrl: string | null };
  /** Messages a second that the channel's provider takes; null: no limit is known. */
  rate: number | null;
  /** Calls to the provider have failed since it last answered. */
  failures: number;
};

/** What the ledger says to a message that is not to be sent. */
export type Unclaimed = {
  verdict:
    | "gone" // there is no such row
    | "stale" // a later generation is on its way, or the row is not due yet and the message no sweep's
    | "busy" // somebody keeps the row locked, or changed it at this moment: not looked at
    | "held" // another worker is on it
    | "unknown" // its worker vanished: the row waits for evidence now
    | "done" // delivered, cancelled, or unknown: nothing to send
    | "cancelled" // no longer true: cancelled by this look
    | "deferred" // its channel is closed: back in the ledger until it opens
    | "sibling" // dead by another message, sent before it died
    | "dying"; // this very message killed it: on its way to the dead-letter queue
};

/** Asked about, and no answer came, for this reason: claimed or not, nobody knows. */
export type Unanswered = { verdict: "unanswered"; error: unknown };

export type Verdict = Claimed | Unclaimed | Unanswered;

export type Claiming = {
  ledger: Ledger;
  durations: Durations;
  /** Leaves out rows that somebody keeps locked, in place of waiting for them. */
  skipLocked: boolean;
};

/**
 * Claims a batch's rows, and answers each message by the table in docs/states.md, in the order given: writes the intent
 * to send before any provider is called (transition 4). Most messages are of rows that are as they should be, which one
 * statement claims; those that it leaves are judged by a second one. When a row comes twice in a batch, the first
 * message that may claim it does. A row that somebody keeps locked for too long is left out as `busy`, and holds back
 * none of the others.
 */
export async function claim(
  ledger: Ledger,
  durations: Durations,
  messages: readonly Message[],
): Promise<Verdict[]> {
  if (messages.length === 0) return [];
  const look = new Look(ledger, durations);
  // Of a row and generation the first message; a row is of one generation.
  const first = new Map(
    messages.toReversed().map((message) => [`${message.id} ${message.generation}`, message]),
  );
  const claimed = await look.at((context) => claimOrdinary(context, [...first.values()]));
  const left = messages.filter((message) => !claimed.has(message));
  const judged = left.length === 0 ? null : await judge(look, left, claimed.size > 0);
  return messages.map((message) => {
    const verdict = claimed.get(message) ?? judged?.get(message);
    if (!verdict) throw new Error("the ledger answered for fewer messages than it was asked about");
    return verdict;
  });
}

/** Whoever is claimed is sent, whatever becomes of the question about the others. */
async function judge(
  look: Look,
  messages: readonly Message[],
  others: boolean,
): Promise<ReadonlyMap<Message, Verdict>> {
  try {
    return await look.at((context) => judgeMessages(context, messages));
  } catch (error) {
    if (!others) throw error;
    return new Map(messages.map((message) => [message, { verdict: "unanswered", error }]));
  }
}

/** Waits for rows that somebody keeps locked, once a batch and not for ever; then it leaves them out. */
class Look {
  readonly #context: Claiming;

  constructor(ledger: Ledger, durations: Durations) {
    this.#context = { ledger, durations, skipLocked: false };
  }

  async at<T>(work: (context: Claiming) => Promise<T>): Promise<T> {
    try {
      return await work(this.#context);
    } catch (error) {
      if (this.#context.skipLocked || !isLocked(error)) throw error;
      this.#context.skipLocked = true;
      return work(this.#context);
    }
  }
}
