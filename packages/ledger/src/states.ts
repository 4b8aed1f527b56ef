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

/** What says that it was sent: the provider's reply, its own event, an operator, or the old sender. */
export type Evidence = "reply" | "feedback" | "operator" | "old_sender";

/** Who sends for a merchant: the old sender; the old one while Owed is watched beside it; or Owed. */
export const modes = ["old", "shadow", "owed"] as const;

export type Mode = (typeof modes)[number];

export const roles = ["buyer", "merchant", "agent", "warehouse"] as const;

export type Role = (typeof roles)[number];
