import type { Outcome, State } from "../states.ts";

/** A row as the protocol's table describes it. Times are seconds since the history began. */
export type ModelRow = {
  id: string;
  state: State;
  owedAt: number | null;
  dueAt: number;
  token: number;
  generation: number;
  attempts: number;
  rescues: number;
  resends: number;
  leasedUntil: number;
  queuedAt: number | null;
  messageId: string | null;
  diedAt: number | null;
  deliveredAt: number | null;
  outcome: Outcome;
  providerMessageId: string | null;
  onUnknown: "resend" | "hold";
  sendBy: number;
  optedOut: boolean;
  suppressed: boolean;
  /** When the suppression of its address was last lifted. */
  liftedAt: number;
  /** Cancelled since it came too late, or something newer made it untrue. */
  untrue: boolean;
  /** The rows of the same recipient about newer statuses. */
  newer: ModelRow[];
  tries: string[];
};

/** A row as the fan-out leaves it. */
export const fresh = (id: string): ModelRow => ({
  id,
  state: "pending",
  owedAt: null,
  dueAt: 0,
  token: 0,
  generation: 0,
  attempts: 0,
  rescues: 0,
  resends: 0,
  leasedUntil: 0,
  queuedAt: null,
  messageId: null,
  diedAt: null,
  deliveredAt: null,
  outcome: "none",
  providerMessageId: null,
  onUnknown: "resend",
  sendBy: Number.POSITIVE_INFINITY,
  optedOut: false,
  suppressed: false,
  liftedAt: Number.NEGATIVE_INFINITY,
  untrue: false,
  newer: [],
  tries: [],
});
