import { type Act, replay } from "@owed/ledger";
import type { Context } from "../command.ts";
import { type Removal, removeCopies } from "../dlq/remove-copies.ts";
import { messageOf } from "../errors.ts";
import { mootText } from "../text/moot.ts";
import { plural } from "../text/words.ts";
import type { Picked } from "./pick.ts";

/** Rows owed again in one statement. */
const chunk = 1000;

export type OwedAgain = {
  redriven: string[];
  /** Left as they are, those that could not be picked first: why, in words. */
  refused: { id: string; why: string }[];
  removal: Removal & { error: string | null };
};

/** What is told while it goes on: rows looked at, of all; then messages removed, of as many as there may be. */
export type Report = (doing: "owing" | "tidying", done: number, of: number) => void;

/**
 * Owes dead rows again through the ledger, which keeps who and why, then removes their messages from the
 * dead-letter queue. In this order: a message that is left over is of a generation that has passed.
 */
export async function oweAgain(
  { ledger, sqs, queue }: Pick<Context, "ledger" | "sqs" | "queue">,
  picked: Picked,
  act: Act,
  report: Report = () => {},
): Promise<OwedAgain> {
  const client = await sqs();
  const { deadLetters } = queue("notification");
  const refused = [...picked.refused];
  const redriven: string[] = [];
  const total = picked.rows.length;
  for (let from = 0; from < total; from += chunk) {
    const ids = picked.rows.slice(from, from + chunk).map((row) => row.id);
    const { ids: again, moot } = await replay(ledger, ids, act, "redriven");
    const done = new Set(again);
    for (const id of ids) {
      const untrue = moot.get(id);
      if (done.has(id)) redriven.push(id);
      else if (untrue !== undefined) refused.push({ id, why: mootText(untrue) });
      else refused.push({ id, why: "somebody else was faster: it is no longer dead" });
    }
    report("owing", from + ids.length, total);
  }
  const removal = await tidy(() =>
    removeCopies(client, deadLetters.url, redriven, {
      report: (removed) => report("tidying", removed, redriven.length),
    }),
  );
  return { redriven, refused, removal };
}

/** The rows are owed again by now; what stays in the dead-letter queue harms nobody, so this fails nothing. */
async function tidy(look: () => Promise<Removal>): Promise<OwedAgain["removal"]> {
  try {
    return { ...(await look()), error: null };
  } catch (error) {
    return { removed: 0, others: 0, complete: false, error: messageOf(error) };
  }
}

/** What became of the messages, in a sentence. */
export function removalText({ removed, complete, error }: OwedAgain["removal"]): string {
  const harmless = "what is left there is out of date and is never sent";
  if (error) return `The dead-letter queue could not be looked through (${error}); ${harmless}.`;
  const all = complete ? "" : `; it was not looked through to its end, and ${harmless}`;
  return `Removed ${plural(removed, "message")} from the dead-letter queue${all}.`;
}
