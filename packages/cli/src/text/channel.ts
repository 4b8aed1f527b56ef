import type { Channel } from "@owed/ledger";
import { time } from "./time.ts";

type Closed = NonNullable<Channel["closed"]>;

const closedFor: Record<string, string> = {
  down: "its provider does not work",
  throttled: "its provider asked for a pause",
  quota: "its quota of 24 hours is used up",
  account: "its provider's account may not send",
  operator: "somebody closed it",
};

/** Since when a channel is closed, until when, and why, in the ledger's own words. */
export function closing(name: string, closed: Closed): string {
  const end = closed.until ? `until ${time(closed.until)}` : `until somebody opens it (owed open ${name})`;
  return `closed since ${time(closed.since)} ${end}: ${cause(closed)}`;
}

/** The same of one that is open by now. */
export const wasClosed = (closed: Closed): string => `closed since ${time(closed.since)}: ${cause(closed)}`;

const cause = ({ for: kind, why }: Closed) => `${closedFor[kind] ?? kind} (${why})`;
