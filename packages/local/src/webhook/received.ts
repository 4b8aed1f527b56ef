import type { IncomingHttpHeaders } from "node:http";
import { Webhook } from "standardwebhooks";

/** A webhook as a merchant's inbox got it. */
export interface ReceivedWebhook {
  /** The `webhook-id`: the same at every try. */
  readonly id: string;
  /** Whose inbox it was posted to. */
  readonly merchant: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** As it was signed. */
  readonly body: string;
  /** The body as JSON; undefined where it is none, or not verified. */
  readonly payload: unknown;
  /** Whether its signature is the merchant's, and of now. */
  readonly verified: boolean;
  /** Why it is not verified; empty where it is. */
  readonly problem: string;
  /** How many with this id this inbox had taken before: a receiver drops those. */
  readonly repeats: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Reads a webhook as any receiver does: by the library of the specification, with the merchant's own secret. */
export function verify(
  { merchant, headers, body }: Pick<ReceivedWebhook, "merchant" | "headers" | "body">,
  secret: string,
): Omit<ReceivedWebhook, "repeats"> {
  const id = String(headers["webhook-id"] ?? "");
  const known = { id, merchant, headers, body, at: Date.now() };
  const signed = {
    "webhook-id": id,
    "webhook-timestamp": String(headers["webhook-timestamp"] ?? ""),
    "webhook-signature": String(headers["webhook-signature"] ?? ""),
  };
  try {
    const payload = new Webhook(secret).verify(body, signed);
    return { ...known, payload, verified: true, problem: "" };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { ...known, payload: undefined, verified: false, problem };
  }
}

/** What the inboxes have taken, in its order; the oldest leave when there are more than `keep`. */
export class Inboxes {
  readonly received: ReceivedWebhook[] = [];
  readonly #times = new Map<string, number>();
  readonly #keep: number;

  constructor(keep: number) {
    this.#keep = keep;
  }

  /** How many with this id a merchant's inbox has taken. */
  times(merchant: string, id: string): number {
    return this.#times.get(keyOf(merchant, id)) ?? 0;
  }

  add(webhook: ReceivedWebhook): void {
    this.received.push(webhook);
    this.#times.set(keyOf(webhook.merchant, webhook.id), this.times(webhook.merchant, webhook.id) + 1);
    // In large steps, since each moves the whole list.
    if (this.received.length < this.#keep * 1.1 + 1) return;
    for (const { merchant, id } of this.received.splice(0, this.received.length - this.#keep)) {
      const left = this.times(merchant, id) - 1;
      if (left > 0) this.#times.set(keyOf(merchant, id), left);
      else this.#times.delete(keyOf(merchant, id));
    }
  }

  clear(): void {
    this.received.length = 0;
    this.#times.clear();
  }
}

const keyOf = (merchant: string, id: string) => JSON.stringify([merchant, id]);
