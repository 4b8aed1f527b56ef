import type { Attempt, Circumstances, Moot, Notification } from "@owed/ledger";
import { because, mootOf } from "./answer-cause.ts";
import { waiting } from "./answer-waiting.ts";
import type { Closed } from "./closed.ts";
import { cameThrough, delivered, outcomeText } from "./fate.ts";
import { time } from "./text/time.ts";
import { plural } from "./text/words.ts";

/** What the answers rest on besides the rows. */
export type Grounds = {
  /** By notification: the tries that were not clean, and what people did. */
  tries: ReadonlyMap<string, readonly Attempt[]>;
  /** Of the channels that rows wait for. */
  closed: Closed;
  /** Of those that wait: which are no longer to be sent. */
  moot: ReadonlyMap<string, Moot>;
  circumstances: Circumstances | null;
};

/** Was this recipient told of this event? */
export type Answer = {
  answer: "yes" | "no" | "not_yet" | "unknown";
  /** The answer with its time and evidence, in plain English. */
  sentence: string;
  recipientId: string;
  eventId: string;
  status: string;
  occurredAt: Date;
  /** The notifications that it rests on. */
  notifications: string[];
};

/** Answers for each event and recipient, in the order of the rows. */
export function answers(rows: readonly Notification[], grounds: Grounds, now = new Date()): Answer[] {
  const groups = Map.groupBy(rows, (row) => `${row.eventId} ${row.recipientId}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { recipientId, eventId, status, occurredAt } = first;
    const answer = verdict(group, grounds);
    const clauses = group.map(
      (row) => `${nameOf(row)} ${fateOf(row, grounds, rows, now)}${doubtOf(row, grounds)}`,
    );
    return {
      answer,
      sentence: `${openings[answer](recipientId, `${status} (event ${eventId})`)}: ${clauses.join("; ")}.`,
      recipientId,
      eventId,
      status,
      occurredAt,
      notifications: group.map((row) => row.id),
    };
  });
}

const openings = {
  yes: (recipient: string, what: string) => `Yes, ${recipient} was notified of ${what}`,
  no: (recipient: string, what: string) => `No, ${recipient} was not notified of ${what}`,
  not_yet: (recipient: string, what: string) => `Not yet, ${recipient} is still to be notified of ${what}`,
  unknown: (recipient: string, what: string) => `Not known whether ${recipient} was notified of ${what}`,
};

/** One that came through answers for all, and a doubt outweighs what is still to come. */
function verdict(rows: readonly Notification[], grounds: Grounds): Answer["answer"] {
  if (rows.some(cameThrough)) return "yes";
  const open = (row: Notification) => row.state === "unknown" || row.state === "sending";
  if (rows.some((row) => open(row) || doubtOf(row, grounds) !== "")) return "unknown";
  const ended = (row: Notification) =>
    ["delivered", "dead", "cancelled"].includes(row.state) || mootOf(row, grounds.moot) !== null;
  return rows.every(ended) ? "no" : "not_yet";
}

/** A try whose outcome nobody knows may have arrived, whatever became of the row afterwards. */
function doubtOf({ id, state, outcome }: Notification, { tries }: Grounds): string {
  if (state === "unknown" || outcome !== "none") return "";
  const unknown = tries.get(id)?.findLast(({ kind }) => kind === "unknown");
  return unknown
    ? `, and an earlier try may have arrived: its outcome was not known at ${time(unknown.at)} (${unknown.reason})`
    : "";
}

/** "the email", and what tells it apart where there are several. */
function nameOf({ channel, template, status, replays }: Notification): string {
  const which = template === status ? "" : ` ${template}`;
  return `the ${channel}${which}${replays ? " that was sent once more" : ""}`;
}

function fateOf(row: Notification, grounds: Grounds, rows: readonly Notification[], now: Date): string {
  switch (row.state) {
    case "pending":
    case "leased":
    case "queued": {
      const moot = mootOf(row, grounds.moot);
      if (!moot) return waiting(row, grounds, now);
      return `will not be sent, since ${because(row, moot, grounds.circumstances, rows)}`;
    }
    case "sending":
      return `has been with a worker since ${time(row.claimedAt)}`;
    case "unknown": {
      const wait = row.owedAt ? `evidence is awaited until ${time(row.owedAt)}` : "a person must decide";
      return `may have been sent at ${time(row.claimedAt)}, but no outcome is known, and ${wait}`;
    }
    case "dead":
      return `was given up at ${time(row.stoppedAt)} after ${plural(row.attempts, "try", "tries")} (${row.reason})`;
    case "cancelled":
      return cancelled(row, grounds, rows);
    case "delivered":
      return delivered(row, grounds.tries.get(row.id));
  }
}

/** Evidence may come after the end: then it was sent all the same. */
function cancelled(row: Notification, grounds: Grounds, rows: readonly Notification[]): string {
  const moot = { reason: row.reason ?? "", by: row.cancelledBy ?? "" };
  const why = because(row, moot, grounds.circumstances, rows);
  if (row.outcome === "none")
    return `was ${doubtOf(row, grounds) === "" ? "not sent" : "cancelled"}, since ${why}`;
  const message = row.providerMessageId ? ` as its message ${row.providerMessageId}` : "";
  return `was cancelled at ${time(row.cancelledAt)}, since ${why}, but ${row.provider ?? "the provider"} had accepted it${message}, as its own event says, and ${outcomeText(row)}`;
}
