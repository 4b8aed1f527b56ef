import type { Attempt, Channel, History, Moot } from "@owed/ledger";
import { type Cause, causeText } from "./answer-cause.ts";
import { outcomeText } from "./fate.ts";
import { closing } from "./text/channel.ts";
import { mootText } from "./text/moot.ts";
import { time } from "./text/time.ts";

/** Something that happened to a notification. */
export type Moment = { at: Date; what: string };

/**
 * A notification's history in the order of time. A clean delivery keeps the last time of each step alone; what
 * was not clean, and what people did, is there in full; and what made it moot, where that is known.
 */
export function timeline(row: History, cause: Cause | null = null): Moment[] {
  const moments: Moment[] = [
    { at: row.occurredAt, what: `the shipment came into ${row.status} (event ${row.eventId})` },
  ];
  const add = (at: Date | null, what: string) => {
    if (at) moments.push({ at, what });
  };
  const to = `${row.recipientId} (${row.role}) by ${row.channel}, template ${row.template}`;
  if (row.replays) add(row.dueAt, `owed to ${to}, once more after ${row.replays}`);
  else {
    add(row.recordedAt, `recorded: owed to ${to}`);
    if (row.dueAt > row.recordedAt) add(row.dueAt, "due");
  }
  const again = row.generation > 0 || row.attempts > 1 ? " (the last time)" : "";
  add(row.queuedAt, `marked as queued${again}`);
  add(row.claimedAt, `a worker took it to send it${row.sentTo ? ` to ${row.sentTo}` : ""}${again}`);
  if (cause) add(cause.at, causeText(cause));
  for (const attempt of row.tries) add(attempt.at, describe(attempt));
  if (row.evidence !== "operator") add(row.deliveredAt, delivered(row));
  if (!row.tries.some(({ kind }) => kind === "cancelled"))
    add(row.cancelledAt, `cancelled: ${mootText(row.reason ?? "no reason was kept", row.cancelledBy)}`);
  if (row.stoppedAt && !row.tries.some(({ kind }) => ends.has(kind)))
    add(row.stoppedAt, `stopped: ${row.reason ?? "it waits for a person"}`);
  return moments.toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

/** Tries that say themselves that the row stopped. */
const ends = new Set(["refused", "exhausted", "held", "lost"]);

const headlines: Record<string, string> = {
  failed: "a try failed, and is tried again",
  refused: "refused for good: dead",
  exhausted: "the last try failed: dead",
  throttled: "throttled, or its provider is down: it waits, and no attempt is counted",
  unknown: "no outcome is known: it waits for the provider's own evidence",
  resent: "owed again, possibly a duplicate",
  held: "held: a person must decide",
  rescued: "its message was lost: owed again",
  lost: "lost again and again: dead",
  redriven: "redriven",
  replayed: "replayed: owed again",
  resolved: "resolved as sent",
  cancelled: "cancelled",
  duplicate: "sent twice, certainly",
};

function describe({ kind, actor, reason, providerMessageId }: Attempt): string {
  const by = actor ? ` by ${actor === "queue" ? "SQS's own redrive" : actor}` : "";
  const message = providerMessageId ? ` (the provider's message ${providerMessageId})` : "";
  return `${headlines[kind] ?? kind}${by}${message}${reason ? `: ${reason}` : ""}`;
}

function delivered({ provider, providerMessageId, evidence, outcome, reason }: History): string {
  const as = providerMessageId ? ` as ${providerMessageId}` : "";
  if (evidence === "old_sender")
    return `delivered: the old sender sent it${provider ? ` through ${provider}` : ""}${as}; outcome ${outcome}`;
  const by = evidence === "feedback" ? "says its own event" : "says its reply";
  return `delivered: ${provider ?? "the provider"} accepted it${as}, ${by}; outcome ${outcome}${reason ? ` (${reason})` : ""}`;
}

/** What it is now, and when somebody looks again; `closed`: why its channel is; `moot`: why it will not be sent. */
export function standing(
  row: History,
  closed?: NonNullable<Channel["closed"]>,
  moot: Moot | null = null,
): string {
  const { state, owedAt, outcome } = row;
  const why = row.reason
    ? ` (${state === "cancelled" ? mootText(row.reason, row.cancelledBy) : row.reason})`
    : "";
  if (state === "delivered") {
    const known = outcome !== "none" && outcome !== "accepted";
    return `delivered${known ? `, and ${outcomeText(row)}` : why}; nothing more happens to it`;
  }
  if (state === "cancelled" && outcome !== "none")
    return `cancelled${why}, although ${row.provider ?? "the provider"} had accepted it, and ${outcomeText(row)}`;
  if (owedAt && moot)
    return `${state}; it will not be sent, since ${mootText(moot.reason, moot.by)}; it is cancelled when it is looked at again, at ${time(owedAt)}`;
  if (owedAt) {
    const waits = closed && (state === "pending" || state === "leased");
    const shut = waits ? `; its channel is ${closing(row.channel, closed)}` : "";
    return `${state}${why}; looked at again at ${time(owedAt)}${shut}`;
  }
  if (state === "dead" || state === "unknown") return `${state}${why}; it waits for a person: owed dead`;
  if (state === "pending" && row.mode) return `pending${why}; the old sender is to send it`;
  return `${state}${why}; nothing more happens to it`;
}
