import { endings, type Outage } from "@owed/ledger";
import { plural } from "../text/words.ts";

const words: Record<(typeof endings)[number], string> = {
  sent: "sent",
  expired: "expired",
  superseded: "superseded",
  optedOut: "opted out",
  suppressed: "suppressed",
  erased: "erased",
  cancelled: "cancelled by people",
  dead: "dead",
};

/** What an outage left behind, in a sentence: nothing, this much, or that the ledger contradicts itself. */
export function proofOf({ all, addsUp, nothingOwed, to }: Outage): string {
  const parts = endings
    .filter((ending) => all[ending] > 0)
    .map((ending) => `${all[ending]} ${words[ending]}`);
  if (all.stillOwed > 0) parts.push(`${all.stillOwed} still owed`);
  const sum = all.due === 0 ? "nothing fell due" : `${all.due} due = ${parts.join(" + ") || "0"}`;
  if (!addsUp)
    return `This does not add up: ${sum}. The ledger has a state or a reason that this report does not know.`;
  if (nothingOwed && to === null)
    return `Nothing that fell due so far is owed, and no sweep has worked yet: ${sum}.`;
  if (nothingOwed) return `Nothing that fell due in it, or waited when it began, is still owed: ${sum}.`;
  return `${plural(all.stillOwed, "notification")} of that time ${all.stillOwed === 1 ? "is" : "are"} still owed: ${sum}.`;
}
