import type { Change } from "./record.ts";

/** The transitions of docs/states.md that a history can reach. A claim takes its whole batch, so there is no 21. */
export const transitions = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22];

/**
 * Which transition a change was; null: none of them, and then it must not have happened. `0`: it moved no state, as
 * when evidence adds to what is known of a delivered notification.
 */
export function transitionOf(change: Change): number | null {
  const { was, became, reason, evidence, token, was_token: before } = change;
  if (was === null) return 0;
  if (became === "unknown" && reason?.startsWith("restored")) return was === "unknown" ? 0 : 13;
  if (became === "cancelled") {
    if (was === "cancelled") return 0;
    return was === "sending" || was === "delivered" ? null : 18;
  }
  if (became === "delivered") {
    if (was === "delivered") return 0;
    if (evidence === "operator") return was === "unknown" || was === "dead" ? 20 : null;
    if (evidence === "feedback") return 9;
    return was === "sending" && token === before ? 5 : 6;
  }
  switch (`${was} ${became}`) {
    case "pending leased":
    case "leased leased":
      return 1;
    case "leased queued":
      return 2;
    case "leased pending":
      return change.generation === change.was_generation ? 3 : 8;
    case "pending sending":
    case "leased sending":
    case "queued sending":
    case "dead sending":
      return token === before + 1 && change.attempts === change.was_attempts + 1 ? 4 : null;
    case "sending dead":
      return reason?.startsWith("MessageRejected") ? 7 : 11;
    case "sending pending":
      // Neither costs an attempt.
      if (change.attempts !== change.was_attempts - 1) return null;
      return reason === null ? 22 : 8;
    case "pending pending":
    case "dead pending":
      return reason === null ? 19 : 8;
    case "sending queued":
      return 10;
    case "sending unknown":
      return reason?.startsWith("no_outcome") ? 13 : 12;
    case "unknown pending":
      return change.resends === change.was_resends + 1 ? 14 : 19;
    case "unknown unknown":
      return change.owed ? 0 : 15;
    case "queued pending":
    case "queued dead":
      return 16;
    case "queued queued":
      return change.looked ? 17 : 2;
    default:
      return null;
  }
}
