import type { Difference } from "@owed/ledger";
import { mootText } from "../text/moot.ts";
import { time } from "../text/time.ts";

/** Why the two senders did not do the same, as far as the ledger knows. */
export function explain(row: Difference): string {
  if (row.verdict === "twice")
    return row.owedSentAt
      ? `sent by both: by Owed at ${time(row.owedSentAt)}, by the old sender at ${time(row.oldSentAt)}`
      : `sent ${row.oldSends} times by the old sender`;
  if (row.verdict === "only_new") {
    const own = /^old_sender: (.*)$/.exec(row.reason ?? "")?.[1];
    if (own !== undefined) return `the old sender would not: ${own}`;
    if (row.state === "cancelled" || row.state === "dead")
      return `nobody sent it, and now it is ${row.state}: ${mootText(row.reason ?? "no reason was kept")}`;
    if (!row.held)
      return `the old sender did not send it before the cutover, and now Owed has it: ${row.state}`;
    if (row.oldClaimedAt)
      return `the old sender claimed it at ${time(row.oldClaimedAt)}, and has not said that it was sent`;
    return "the old sender has not claimed it";
  }
  if (row.moot) return `Owed would not: ${mootText(row.moot)}`;
  if (!row.heard) return "the ledger has not heard of the event";
  return "no rule, or no subscriber, led to a notification";
}
