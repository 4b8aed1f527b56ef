/** The states of a ledger row; every transition, with its owner, is drawn in docs/states.md. */
export const states = [
  "pending",
  "leased",
  "queued",
  "sending",
  "unknown",
  "delivered",
  "dead",
  "cancelled",
] as const;

export type State = (typeof states)[number];

/** What is known to have become of a delivered notification. */
export type Outcome = "none" | "accepted" | "arrived" | "bounced" | "complained";

/** What says that the provider accepted. */
export type Evidence = "reply" | "feedback" | "operator";

export const roles = ["buyer", "merchant", "agent", "warehouse"] as const;

export type Role = (typeof roles)[number];
