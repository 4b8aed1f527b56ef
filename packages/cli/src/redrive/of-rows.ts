import { type Act, readMoot, replay } from "@owed/ledger";
import type { Context } from "../command.ts";
import { type Removal, removeCopies } from "../dlq/remove-copies.ts";
import { messageOf } from "../errors.ts";
import type { Result } from "../output.ts";
import { mootText } from "../text/moot.ts";
import { plural } from "../text/words.ts";
import { counted } from "./counted.ts";
import type { Picked } from "./pick.ts";

/** Rows owed again in one statement. */
const chunk = 1000;

/**
 * Owes dead rows again through the ledger, which keeps who and why, then removes their messages from the
 * dead-letter queue. In this order: a message that is left over is of a generation that has passed.
 */
export async function redriveRows(context: Context, picked: Picked, act: Act): Promise<Result> {
  const sqs = await context.sqs();
  const { deadLetters } = context.queue("notification");
  const refused = [...picked.refused];
  const redriven: string[] = [];
  for (let from = 0; from < picked.rows.length; from += chunk) {
    const ids = picked.rows.slice(from, from + chunk).map((row) => row.id);
    const { ids: again, moot } = await replay(context.ledger, ids, act, "redriven");
    const done = new Set(again);
    for (const id of ids) {
      const untrue = moot.get(id);
      if (done.has(id)) redriven.push(id);
      else if (untrue !== undefined) refused.push({ id, why: mootText(untrue) });
      else refused.push({ id, why: "somebody else was faster: it is no longer dead" });
    }
    if (picked.rows.length > chunk)
      context.progress(`owed again ${redriven.length} of ${picked.rows.length}`);
  }
  const removal = await tidy(() => removeCopies(sqs, deadLetters.url, redriven));
  return {
    json: { by: "ledger", redriven, refused, more: picked.more, deadLetters: removal, ...act },
    lines: [
      `${plural(redriven.length, "notification")} owed again: the next sweep publishes ${redriven.length === 1 ? "it" : "them"}.`,
      ...refused.map(({ id, why }) => `not ${id}: ${why}`),
      ...(picked.more ? [redriven.length > 0 ? "More fit: run it again, or raise --limit." : stuck] : []),
      toldOf(removal),
    ],
    exitCode: refused.length > 0 ? 3 : 0,
  };
}

/** Those that are no longer true stay dead, and the longest dead come first. */
const stuck = "More fit: raise --limit, or cancel those that are no longer true: they come first each time.";

/** The same rows, with nothing done to them: those that would be owed again, and those that are no longer true. */
export async function previewRows({ ledger }: Context, picked: Picked): Promise<Result> {
  const { more } = picked;
  const moot = await readMoot(
    ledger,
    picked.rows.map((row) => row.id),
  );
  const rows = picked.rows.filter(({ id }) => !moot.has(id));
  const refused = [...picked.refused, ...[...moot].map(([id, reason]) => ({ id, why: mootText(reason) }))];
  const reasons = counted(rows.map(({ reason }) => reason));
  const untrue = counted([...moot.values()]);
  const ids = rows.map((row) => row.id);
  return {
    json: { by: "ledger", dryRun: true, count: ids.length, reasons, moot: untrue, ids, refused, more },
    lines: [
      `${plural(ids.length, "notification")} would be owed again${more ? ", and more fit than --limit allows" : ""}${ids.length > 0 ? ":" : "."}`,
      ...reasons.map(({ reason, count }) => `  ${count} × ${reason}`),
      ...ids,
      ...(moot.size > 0 ? [`${plural(moot.size, "notification")} would be left, as no longer true:`] : []),
      ...untrue.map(({ reason, count }) => `  ${count} × ${mootText(reason)}`),
      ...refused.map(({ id, why }) => `not ${id}: ${why}`),
      "Nothing was changed.",
    ],
    exitCode: refused.length > 0 ? 3 : 0,
  };
}

type Tidied = Removal & { error: string | null };

/** The rows are owed again by now; what stays in the dead-letter queue harms nobody, so this fails no command. */
async function tidy(look: () => Promise<Removal>): Promise<Tidied> {
  try {
    return { ...(await look()), error: null };
  } catch (error) {
    return { removed: 0, others: 0, complete: false, error: messageOf(error) };
  }
}

function toldOf({ removed, complete, error }: Tidied): string {
  const harmless = "what is left there is out of date and is never sent";
  if (error) return `The dead-letter queue could not be looked through (${error}); ${harmless}.`;
  const all = complete ? "" : `; it was not looked through to its end, and ${harmless}`;
  return `Removed ${plural(removed, "message")} from the dead-letter queue${all}.`;
}
