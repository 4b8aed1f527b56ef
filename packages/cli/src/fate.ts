import type { Attempt, Notification } from "@owed/ledger";
import { time } from "./text/time.ts";

/**
 * The provider's own suppression list answers for the recipient: SES accepts the message, sends nothing, and makes
 * an event of it (Amazon SES developer guide, account-level suppression list).
 */
const keptBack = ({ reason }: Pick<Notification, "reason">) => /OnAccountSuppressionList/.test(reason ?? "");

/** The provider accepted it, and nothing says that it did not reach the recipient. */
export const cameThrough = (row: Pick<Notification, "outcome" | "reason">): boolean =>
  row.outcome !== "none" && row.outcome !== "bounced" && !keptBack(row);

/** What became of what the provider accepted, with the provider's own words. */
export function outcomeText(row: Pick<Notification, "state" | "outcome" | "reason">): string {
  // The reason of a cancelled row says why it was cancelled.
  const detail = row.state === "delivered" ? row.reason : null;
  const said = detail ? ` (${detail})` : "";
  switch (row.outcome) {
    case "none":
    case "accepted":
      return `what became of it is not known${detail ? ` (it last said ${detail})` : ""}`;
    case "arrived":
      return "it arrived";
    case "bounced":
      return `it bounced${said}`;
    case "complained":
      if (keptBack(row)) return `it was not sent on, since the recipient had complained before${said}`;
      if (/not-spam/.test(detail ?? ""))
        return `it arrived, and the recipient says that it is no spam${said}`;
      return `it arrived, and the recipient complained about it${said}`;
  }
}

/** A delivered one, and on what evidence. */
export function delivered(row: Notification, tries: readonly Attempt[] = []): string {
  if (row.evidence === "operator") {
    const word = tries.findLast(({ kind }) => kind === "resolved");
    const said = word?.actor ? `${word.actor}, who says "${word.reason}"` : "an operator";
    const since = row.outcome === "accepted" ? "" : `, and ${outcomeText(row)}`;
    return `was sent by ${time(row.deliveredAt)}, on the word of ${said}${since}`;
  }
  if (row.evidence === "old_sender") {
    const message = row.providerMessageId ? ` as its message ${row.providerMessageId}` : "";
    return `was sent by the old sender at ${time(row.deliveredAt)}${row.provider ? `, through ${row.provider}` : ""}${message}, as it says, and ${outcomeText(row)}`;
  }
  const provider = row.provider ?? "the provider";
  const message = row.providerMessageId ? `, as its message ${row.providerMessageId}` : "";
  const evidence = row.evidence === "feedback" ? "its own event says" : "its reply says";
  return `was accepted by ${provider} at ${time(row.deliveredAt)}${message}, as ${evidence}, and ${outcomeText(row)}`;
}
