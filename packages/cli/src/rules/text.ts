import type { Rule } from "@owed/ledger";
import { duration } from "../text/time.ts";

/** When a rule has somebody told, in words. */
export function whenIt({ delay, atTime, sendWithin, silent }: Rule): string {
  if (silent) return "never";
  const after = delay === 0 ? "" : `after ${duration(delay)}`;
  const at = atTime === null ? "" : `at ${atTime} there`;
  const until = sendWithin === null ? "" : `, within ${duration(sendWithin)}`;
  return `${[after, at].filter(Boolean).join(", ") || "at once"}${until}`;
}

/** What else a rule asks for, in words. */
export const whatItDoes = ({ onlyWhileCurrent, newestReplaces, onUnknown, silent }: Rule): string =>
  silent
    ? "tells nobody"
    : [
        onlyWhileCurrent ? "only while it is the status" : "",
        newestReplaces ? "the newest replaces it" : "sent beside newer ones",
        onUnknown === "hold" ? "held when unknown" : "",
      ]
        .filter(Boolean)
        .join(", ");
