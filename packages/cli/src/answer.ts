import type { Notification } from "@owed/ledger";
import { time } from "./text/time.ts";
import { plural } from "./text/words.ts";

/** Who resolved a notification as sent, and on what grounds. */
export type Word = { actor: string; why: string };

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

/** Answers for each event and recipient, in the order of the rows. `words`: by id, what operators said. */
export function answers(
  rows: readonly Notification[],
  words: ReadonlyMap<string, Word>,
  now = new Date(),
): Answer[] {
  const groups = Map.groupBy(rows, (row) => `${row.eventId} ${row.recipientId}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { recipientId, eventId, status, occurredAt } = first;
    const answer = verdict(group);
    const clauses = group.map((row) => `${nameOf(row)} ${fateOf(row, words.get(row.id), now)}`);
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

/** One that came through answers for all; what bounced did not come through. */
function verdict(rows: readonly Notification[]): Answer["answer"] {
  if (rows.some((row) => row.state === "delivered" && row.outcome !== "bounced")) return "yes";
  if (rows.some((row) => row.state === "unknown" || row.state === "sending")) return "unknown";
  const ended = ["delivered", "dead", "cancelled"];
  return rows.every((row) => ended.includes(row.state)) ? "no" : "not_yet";
}

/** "the email", and what tells it apart where there are several. */
function nameOf({ channel, template, status, replays }: Notification): string {
  const which = template === status ? "" : ` ${template}`;
  return `the ${channel}${which}${replays ? " that was sent once more" : ""}`;
}

function fateOf(row: Notification, word: Word | undefined, now: Date): string {
  switch (row.state) {
    case "pending":
      return row.dueAt > now ? `is due at ${time(row.dueAt)}` : `has been owed since ${time(row.dueAt)}`;
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
      return `was not sent, since ${cancelledBecause(row)}`;
    case "delivered":
      return delivered(row, word);
  }
}

function delivered(row: Notification, word: Word | undefined): string {
  if (row.evidence === "operator") {
    const said = word ? `${word.actor}, who says "${word.why}"` : "an operator";
    return `was sent by ${time(row.deliveredAt)}, on the word of ${said}`;
  }
  const provider = row.provider ?? "the provider";
  const message = row.providerMessageId ? `, as its message ${row.providerMessageId}` : "";
  const evidence = row.evidence === "feedback" ? "its own event says" : "its reply says";
  const became = {
    none: "what became of it is not known",
    accepted: "what became of it is not known",
    arrived: "it arrived",
    bounced: "it bounced",
    complained: "it arrived, and the recipient complained about it",
  }[row.outcome];
  return `was accepted by ${provider} at ${time(row.deliveredAt)}${message}, as ${evidence}, and ${became}`;
}

function cancelledBecause({ reason, sendBy }: Notification): string {
  if (reason === "expired") return `it could not be sent before ${time(sendBy)}, when it became too late`;
  if (reason === "opted_out") return "the recipient had opted out";
  if (reason === "superseded") return "a newer status made it untrue";
  const said = /^cancelled: (.*)$/s.exec(reason ?? "")?.[1];
  return said ? `an operator cancelled it ("${said}")` : `it was cancelled (${reason})`;
}
