import type { Evidence, Mode, Outcome, Role, State } from "../states.ts";

/** A notification as people read it: the row, and what it is about. */
export type Notification = {
  id: string;
  state: State;
  shipmentId: string;
  eventId: string;
  status: string;
  occurredAt: Date;
  recipientId: string;
  role: Role;
  channel: string;
  template: string;
  dueAt: Date;
  sendBy: Date | null;
  owedAt: Date | null;
  queuedAt: Date | null;
  claimedAt: Date | null;
  deliveredAt: Date | null;
  cancelledAt: Date | null;
  stoppedAt: Date | null;
  generation: number;
  attempts: number;
  rescues: number;
  resends: number;
  sentTo: string | null;
  provider: string | null;
  providerMessageId: string | null;
  evidence: Evidence | null;
  outcome: Outcome;
  reason: string | null;
  /** What made it moot, such as `event E-9` or `suppression 17`; null where nothing did, or before it was kept. */
  cancelledBy: string | null;
  replays: string | null;
  /** The old sender is to send it, or was; null: Owed. */
  mode: Exclude<Mode, "owed"> | null;
};
