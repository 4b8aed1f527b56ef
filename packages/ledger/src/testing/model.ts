import { defaultDurations as durations } from "../durations.ts";
import type { Outcome } from "../states.ts";
import type { ModelRow } from "./model-row.ts";

const ranks: Outcome[] = ["none", "accepted", "arrived", "bounced", "complained"];
const ended = (row: ModelRow) => row.state === "delivered" || row.state === "cancelled";

export const isMoot = (row: ModelRow, now: number): boolean =>
  row.sendBy <= now || row.optedOut || row.suppressed || row.newer.some(replacesOlder);

/** A newer status that was told, is owed, or came too late. */
const replacesOlder = ({ state, untrue }: ModelRow): boolean =>
  state === "cancelled" ? untrue : state !== "dead";

/** A claim of a row that was queued, or leased to be: proves that messages queued well before it are lost. `kept`: surely noted by the ledger. */
export type ClaimNote = { at: number; queuedAt: number; kept: boolean };

/** Whether a queued row's message is known to be lost: transition 16. */
export function isLost(row: ModelRow, notes: readonly ClaimNote[], now: number): "yes" | "no" | "perhaps" {
  const proofs = notes.filter(
    (note) => note.queuedAt >= (row.queuedAt ?? 0) + 60 && note.at <= now - durations.lostAfter,
  );
  // The ledger keeps one claim a minute and for two weeks, and may use it up to a minute later than it could.
  const sure = (note: ClaimNote) =>
    note.kept && note.at <= now - durations.lostAfter - 60 && note.at > now - 14 * 86400;
  return proofs.some(sure) ? "yes" : proofs.length > 0 ? "perhaps" : "no";
}

/** 1, 13 to 18: what a sweep does with a row that is due, by its lease or its look. */
export function sweepRow(row: ModelRow, now: number, lost: boolean): string {
  switch (row.state) {
    case "pending":
    case "leased":
      if (isMoot(row, now)) {
        endUntrue(row, now);
        return "cancel";
      }
      Object.assign(row, { state: "leased", token: row.token + 1 });
      row.owedAt = row.leasedUntil = now + durations.lease;
      return "lease";
    case "sending":
      vanish(row, now);
      return "unknown";
    case "unknown":
      if (row.onUnknown === "hold" || row.resends === 3) {
        row.owedAt = null;
        row.tries.push("held");
        return "hold";
      }
      row.resends += 1;
      again(row, now);
      row.tries.push("resent");
      return "resend";
    case "queued":
      if (!lost) {
        row.owedAt = now + durations.lostAfter;
        return "wait";
      }
      if (row.rescues === 3) {
        end(row, "dead");
        row.tries.push("lost");
        return "lose";
      }
      row.rescues += 1;
      again(row, now);
      row.tries.push("rescued");
      return "rescue";
    default:
      throw new Error(`a ${row.state} row is never owed`);
  }
}

/** 2. Returns whether it was this sweep's. */
export function mark(row: ModelRow, token: number, now: number): boolean {
  if (row.token !== token || (row.state !== "leased" && row.state !== "queued")) return false;
  Object.assign(row, { state: "queued", queuedAt: now, owedAt: now + durations.lostAfter });
  return true;
}

/** 3. */
export function release(row: ModelRow, token: number, now: number, wait: number): boolean {
  if (row.token !== token || row.state !== "leased") return false;
  Object.assign(row, { state: "pending", owedAt: now + wait });
  return true;
}

export type ModelMessage = { row: ModelRow; generation: number; messageId: string; sentAt: number };

/** What deliver does with a message: 4, 8, 13, 18. `isClosed`: its channel. */
export function claimRow(message: ModelMessage, now: number, isClosed: boolean): string {
  const { row } = message;
  if (message.generation !== row.generation) return "stale";
  if (row.state === "pending" && row.dueAt > now) return "stale";
  switch (row.state) {
    case "unknown":
    case "delivered":
    case "cancelled":
      return "done";
    case "sending":
      if (row.leasedUntil > now) return "held";
      vanish(row, now);
      return "unknown";
    case "dead":
      if (row.messageId === message.messageId) return "dying";
      if (row.diedAt !== null && row.diedAt >= message.sentAt) return "sibling";
  }
  if (isMoot(row, now)) {
    endUntrue(row, now);
    return "cancelled";
  }
  if (row.state === "dead") row.tries.push("redriven");
  if (isClosed) {
    again(row, Math.min(row.dueAt, now));
    return "deferred";
  }
  Object.assign(row, { state: "sending", token: row.token + 1, attempts: row.attempts + 1, diedAt: null });
  row.messageId = message.messageId;
  row.leasedUntil = now + durations.sendLease;
  row.owedAt = Math.max(row.owedAt ?? 0, row.leasedUntil);
  return "claimed";
}

export type ModelOutcome =
  | "accepted"
  | "refused"
  | "exhausted"
  | "transient"
  | "throttled"
  | "unknown"
  | "not_called";

/** 5, 7, 8, 10, 11, 12, 22. Returns whether the row was still this worker's. */
export function recordRow(
  row: ModelRow,
  token: number,
  outcome: ModelOutcome,
  now: number,
  wait: number,
  id: string,
): boolean {
  if (row.state !== "sending" || row.token !== token) return false;
  if (outcome === "accepted") {
    end(row, "delivered");
    Object.assign(row, { deliveredAt: now, outcome: "accepted", providerMessageId: id });
    return true;
  }
  if (outcome !== "not_called") row.tries.push(outcome === "transient" ? "failed" : outcome);
  if (outcome === "refused" || outcome === "exhausted") {
    end(row, "dead");
    row.diedAt = now;
  } else if (outcome === "transient") {
    Object.assign(row, { state: "queued", queuedAt: row.queuedAt ?? now, owedAt: now + durations.lostAfter });
  } else if (outcome === "unknown") {
    Object.assign(row, { state: "unknown", owedAt: now + durations.grace });
  } else {
    row.attempts -= 1;
    // One that was not called goes back to its old place in the line.
    again(row, outcome === "throttled" ? now + wait : Math.min(row.dueAt, now));
  }
  return true;
}

/** Whether the row is as this very outcome left it: what a record answers when it is run again. */
export function isRecorded(row: ModelRow, token: number, outcome: ModelOutcome, id: string): boolean {
  if (row.token !== token) return false;
  if (outcome === "accepted") return row.state === "delivered" && row.providerMessageId === id;
  const left = {
    refused: "dead",
    exhausted: "dead",
    transient: "queued",
    unknown: "unknown",
    throttled: "pending",
    not_called: "pending",
  };
  return row.state === left[outcome];
}

/** 6 and 9. */
export function weigh(
  row: ModelRow,
  id: string,
  outcome: Outcome,
  at: number | null,
  now: number,
): { result: string; duplicate: boolean; suppressed: boolean } {
  const duplicate = ended(row) && row.providerMessageId !== null && row.providerMessageId !== id;
  const result = ended(row) ? "known" : "proven";
  if (!ended(row)) {
    end(row, "delivered");
    Object.assign(row, { token: row.token + 1, deliveredAt: at ?? now });
  }
  if (duplicate && !row.tries.includes(`duplicate ${id}`)) row.tries.push(`duplicate ${id}`);
  const counts = !(duplicate && outcome === "bounced");
  if (counts && ranks.indexOf(outcome) > ranks.indexOf(row.outcome)) row.outcome = outcome;
  row.providerMessageId ??= id;
  const suppressed =
    counts &&
    !row.suppressed &&
    ["bounced", "complained"].includes(outcome) &&
    (at === null || row.liftedAt < at);
  return { result, duplicate, suppressed };
}

/** 19. */
export function replayRow(
  row: ModelRow,
  now: number,
  kind: "replayed" | "redriven",
): "replayed" | "moot" | "not allowed" {
  if (row.state !== "dead" && (kind === "redriven" || row.state !== "unknown")) return "not allowed";
  if (isMoot(row, now)) return "moot";
  row.tries.push(kind, ...(row.state === "unknown" ? ["resent"] : []));
  Object.assign(row, { rescues: 0, resends: 0 });
  again(row, Math.max(row.dueAt, now));
  return "replayed";
}

/** 20. */
export function resolveRow(row: ModelRow, now: number): boolean {
  if (row.state !== "dead" && row.state !== "unknown") return false;
  end(row, "delivered");
  Object.assign(row, { deliveredAt: now, outcome: "accepted" });
  row.tries.push("resolved");
  return true;
}

/** 18, by an operator. */
export function cancelRow(row: ModelRow): boolean {
  const held = row.state === "unknown" && row.owedAt === null;
  if (!held && !["pending", "leased", "queued", "dead"].includes(row.state)) return false;
  end(row, "cancelled");
  row.tries.push("cancelled");
  return true;
}

function again(row: ModelRow, owedAt: number): void {
  Object.assign(row, { state: "pending", generation: row.generation + 1, owedAt, diedAt: null });
}

/** Its reason is the first that holds: too late, the recipient's own, or something newer. */
function endUntrue(row: ModelRow, now: number): void {
  row.untrue = row.sendBy <= now || (!row.optedOut && !row.suppressed);
  end(row, "cancelled");
}

function end(row: ModelRow, state: "delivered" | "dead" | "cancelled"): void {
  Object.assign(row, { state, owedAt: null, diedAt: null });
}

function vanish(row: ModelRow, now: number): void {
  Object.assign(row, { state: "unknown", owedAt: now + durations.grace });
  row.tries.push("unknown");
}
