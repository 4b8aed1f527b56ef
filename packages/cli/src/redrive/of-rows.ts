import type { Act } from "@owed/ledger";
import type { Context } from "../command.ts";
import type { Result } from "../output.ts";
import { withBar } from "../text/bar.ts";
import { mootText } from "../text/moot.ts";
import { plural } from "../text/words.ts";
import { foresee } from "./foresee.ts";
import { oweAgain, type Report, removalText } from "./owe-again.ts";
import type { Picked } from "./pick.ts";

/** Owes dead rows again through the ledger, and removes their messages from the dead-letter queue. */
export async function redriveRows(context: Context, picked: Picked, act: Act): Promise<Result> {
  const { redriven, refused, removal } = await withBar("redrive", picked.rows.length, (update) => {
    const report: Report = (doing, done) => {
      if (doing === "owing") update(done);
    };
    return oweAgain(context, picked, act, report);
  });
  return {
    json: { by: "ledger", redriven, refused, more: picked.more, deadLetters: removal, ...act },
    lines: [
      `${plural(redriven.length, "notification")} owed again: the next sweep publishes ${redriven.length === 1 ? "it" : "them"}.`,
      ...refused.map(({ id, why }) => `not ${id}: ${why}`),
      ...(picked.more ? [redriven.length > 0 ? "More fit: run it again, or raise --limit." : stuck] : []),
      removalText(removal),
    ],
    exitCode: refused.length > 0 ? 3 : 0,
  };
}

/** Those that are no longer true stay dead, and the longest dead come first. */
const stuck = "More fit: raise --limit, or cancel those that are no longer true: they come first each time.";

/** The same rows, with nothing done to them: those that would be owed again, and those that are no longer true. */
export async function previewRows({ ledger }: Context, picked: Picked): Promise<Result> {
  const { more } = picked;
  const { ids, reasons, moot, refused } = await foresee(ledger, picked);
  const untrue = moot.reduce((sum, { count }) => sum + count, 0);
  return {
    json: { by: "ledger", dryRun: true, count: ids.length, reasons, moot, ids, refused, more },
    lines: [
      `${plural(ids.length, "notification")} would be owed again${more ? ", and more fit than --limit allows" : ""}${ids.length > 0 ? ":" : "."}`,
      ...reasons.map(({ reason, count }) => `  ${count} × ${reason}`),
      ...ids,
      ...(untrue > 0 ? [`${plural(untrue, "notification")} would be left, as no longer true:`] : []),
      ...moot.map(({ reason, count }) => `  ${count} × ${mootText(reason)}`),
      ...refused.map(({ id, why }) => `not ${id}: ${why}`),
      "Nothing was changed.",
    ],
    exitCode: refused.length > 0 ? 3 : 0,
  };
}
