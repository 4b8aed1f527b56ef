import { Rules } from "../sqs/rules.ts";
import type { ReceivedWebhook } from "./received.ts";

/** What shall go wrong with a webhook. The parts apply in this order. */
export interface WebhookFault {
  /** Wait before anything else, in milliseconds. */
  readonly delay?: number;
  /** Reset the connection, the request read: `before` it is kept, or `after`. Either way the sender cannot know. */
  readonly drop?: "before" | "after";
  /** Keep the answer back until this is settled; for ever, where it never is. */
  readonly hold?: Promise<unknown>;
  /**
   * Answer so instead, e.g. status 503 with `{ "retry-after": "120" }`, or 302 with `{ location: "…" }`. Whoever
   * answers something else than 2xx has not taken the webhook, and keeps nothing.
   */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body that does not end: as fast as it is read, or a byte now and then. None for 204 and 304, which have no body. */
  readonly body?: "endless" | "dripping";
}

/** Faults for tests and drills; a rule sees each webhook, a wrongly signed one too. */
export type WebhookFaults = Rules<ReceivedWebhook, WebhookFault>;

export const createFaults = (): WebhookFaults => new Rules<ReceivedWebhook, WebhookFault>();
