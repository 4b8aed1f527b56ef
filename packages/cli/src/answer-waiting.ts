import type { Attempt, Notification } from "@owed/ledger";
import type { Grounds } from "./answer.ts";
import { closing } from "./text/channel.ts";
import { time } from "./text/time.ts";
import { plural } from "./text/words.ts";

/** Where a notification is that nobody has begun to send. */
export function waiting(row: Notification, grounds: Grounds, now: Date): string {
  if (row.mode) return held(row, grounds, now);
  if (row.state === "pending" && row.dueAt > now) return `is due at ${time(row.dueAt)}`;
  const failed = failures(grounds.tries.get(row.id) ?? []);
  if (row.state === "queued") return `has been in the queue since ${time(row.queuedAt)}${failed}`;
  if (row.state === "leased")
    return `has been owed since ${time(row.dueAt)}, and a sweep is publishing it${failed}`;
  const later = row.owedAt && row.owedAt > now ? `, and is not tried before ${time(row.owedAt)}` : "";
  const why = later && row.reason ? ` (${row.reason})` : "";
  const shut = grounds.closed.get(row.channel);
  return `has been owed since ${time(row.dueAt)}${later}${why}${failed}${shut ? `, while its channel is ${closing(row.channel, shut)}` : ""}`;
}

/** The tries that failed since somebody last owed it anew. */
function failures(tries: readonly Attempt[]): string {
  const anew = tries.findLastIndex(({ kind }) => kind === "replayed" || kind === "redriven");
  const failed = tries.slice(anew + 1).filter(({ kind }) => kind === "failed");
  const last = failed.at(-1);
  if (!last) return "";
  return `, and ${plural(failed.length, "try", "tries")} failed, the last at ${time(last.at)}${last.reason ? ` (${last.reason})` : ""}`;
}

/** By who sends for the merchant now: after a cutover, what the old sender had claimed is left to it for a while. */
function held({ id, mode, dueAt }: Notification, { circumstances }: Grounds, now: Date): string {
  const due = `${dueAt > now ? "is" : "was"} due at ${time(dueAt)}`;
  const claim = circumstances?.claims.find((one) => one.id === id);
  const claimed = claim ? `, which claimed it at ${time(claim.at)} and has not said that it sent it` : "";
  const present = circumstances?.mode ?? mode;
  if (present === "owed")
    return `is left to the old sender${claimed}, although Owed sends for the merchant now, and ${due}; run 'owed cutover' again for what is left`;
  const watched = present === "shadow" ? ", while Owed is watched beside it" : "";
  return `is for the old sender to send${claimed}${watched}, and ${due}`;
}
