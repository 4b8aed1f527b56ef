import type { Attempt, Notification } from "@owed/ledger";
import type { Closed } from "./closed.ts";
import { cameThrough, delivered, outcomeText } from "./fate.ts";
import { closing } from "./text/channel.ts";
import { time } from "./text/time.ts";
import { plural } from "./text/words.ts";

/** What the answers rest on besides the rows. */
export type Grounds = {
  /** By notification: the tries that were not clean, and what people did. */
  tries: ReadonlyMap<string, readonly Attempt[]>;
  /** Of the channels that rows wait for. */
  closed: Closed;
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
    const clauses = group.map((row) => `${nameOf(row)} ${fateOf(row, grounds, now)}${doubtOf(row, grounds)}`);
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
  const ended = ["delivered", "dead", "cancelled"];
  return rows.every((row) => ended.includes(row.state)) ? "no" : "not_yet";
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

function fateOf(row: Notification, grounds: Grounds, now: Date): string {
  switch (row.state) {
    case "pending": {
      if (row.mode)
        return `is for the old sender to send${row.mode === "shadow" ? ", while Owed is watched beside it" : ""}, and ${row.dueAt > now ? "is" : "was"} due at ${time(row.dueAt)}`;
      if (row.dueAt > now) return `is due at ${time(row.dueAt)}`;
      const later = row.owedAt && row.owedAt > now ? `, and is not tried before ${time(row.owedAt)}` : "";
      const why = later && row.reason ? ` (${row.reason})` : "";
      const shut = grounds.closed.get(row.channel);
      return `has been owed since ${time(row.dueAt)}${later}${why}${shut ? `, while its channel is ${closing(row.channel, shut)}` : ""}`;
    }
    case "leased":
      return `has been owed since ${time(row.dueAt)}, and a sweep is publishing it`;
    case "queued":
      return `has been in the queue since ${time(row.queuedAt)}`;
    case "sending":
      return `has been with a worker since ${time(row.claimedAt)}`;
    case "unknown": {
      const wait = row.owedAt ? `evidence is awaited until ${time(row.owedAt)}` : "a person must decide";
      return `may have been sent at ${time(row.claimedAt)}, but no outcome is known, and ${wait}`;
    }
    case "dead":
      return `was given up at ${time(row.stoppedAt)} after ${plural(row.attempts, "try", "tries")} (${row.reason})`;
    case "cancelled":
      return cancelled(row, doubtOf(row, grounds) !== "");
    case "delivered":
      return delivered(row, grounds.tries.get(row.id));
  }
}

/** Evidence may come after the end: then it was sent all the same. */
function cancelled(row: Notification, inDoubt: boolean): string {
  if (row.outcome === "none")
    return `was ${inDoubt ? "cancelled" : "not sent"}, since ${cancelledBecause(row)}`;
  const message = row.providerMessageId ? ` as its message ${row.providerMessageId}` : "";
  return `was cancelled at ${time(row.cancelledAt)}, since ${cancelledBecause(row)}, but ${row.provider ?? "the provider"} had accepted it${message}, as its own event says, and ${outcomeText(row)}`;
}

function cancelledBecause({ reason, sendBy, cancelledBy }: Notification): string {
  if (reason === "expired") return `it could not be sent before ${time(sendBy)}, when it became too late`;
  if (reason === "opted_out") return "the recipient had opted out";
  if (reason === "suppressed")
    return "its address was suppressed, after a message to it bounced for good or was complained about";
  if (reason === "superseded")
    return `a newer status made it untrue${cancelledBy ? ` (${cancelledBy})` : ""}`;
  if (reason === "erased") return "the recipient's data had been erased";
  const said = /^cancelled: (.*)$/s.exec(reason ?? "")?.[1];
  return said ? `an operator cancelled it ("${said}")` : `it was cancelled (${reason})`;
}
