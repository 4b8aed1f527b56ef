import type { Role } from "../states.ts";

/** What one version of a rule says. Durations in seconds, from when the event occurred. */
export type Rule = {
  id: string;
  /** Null: for every merchant who has no rules of its own for the same status, role and channel. */
  merchantId: string | null;
  status: string;
  role: Role;
  channel: string;
  template: string;
  delay: number;
  /** `HH:MM`: due at the first such time in the recipient's zone, at or after the delay; null: right after the delay. */
  atTime: string | null;
  /** From when it is too late to send; null: never. */
  sendWithin: number | null;
  onlyWhileCurrent: boolean;
  newestReplaces: boolean;
  onUnknown: "resend" | "hold";
  /** Tells nobody; a merchant's own stands in place of the default ones all the same. */
  silent: boolean;
};

export type RuleVersion = Rule & {
  version: number;
  active: boolean;
  setAt: Date;
  setBy: string;
  setWhy: string;
  retiredAt: Date | null;
  retiredBy: string | null;
  retiredWhy: string | null;
};
