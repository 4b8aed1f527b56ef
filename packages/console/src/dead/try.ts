import { adviceFor } from "@owed/cli/advice";
import { type Foreseen, foresee } from "@owed/cli/redrive/foresee";
import { type Picked, pickByFilter, pickByIds } from "@owed/cli/redrive/pick";
import { mootAdvice, mootText } from "@owed/cli/text/moot";
import type { Ledger } from "@owed/ledger";
import type { Context as Call } from "hono";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import { type Html, show } from "../page/page.ts";
import { form, table } from "../page/parts.ts";
import { type Choice, isEmpty, queryOf, wordsOf } from "./choice.ts";
import { count, fieldsOf, hidden, more, notification, plural, shown, within } from "./parts.ts";

/** Rows that one redrive takes at most, as the command line's. */
const most = 100_000;

export const pick = (ledger: Ledger, choice: Choice): Promise<Picked> =>
  "ids" in choice ? pickByIds(ledger, choice.ids) : pickByFilter(ledger, { ...choice.filter, limit: most });

/** What was chosen, in words. */
export function titleOf(choice: Choice): string {
  if ("ids" in choice) return plural(choice.ids.length, "chosen notification");
  return isEmpty(choice.filter) ? "all that are dead" : `all that are dead ${wordsOf(choice.filter)}`;
}

/** The page that it was chosen on. */
export const pageOf = (choice: Choice): string =>
  "ids" in choice ? "/dead" : `/dead${queryOf(choice.filter)}`;

/** The dry run of a redrive: what it would do, and the form that does it. */
export async function tryOut(call: Call, context: Context, choice: Choice) {
  const picked = await pick(context.ledger, choice);
  const foreseen = await foresee(context.ledger, picked);
  const would = foreseen.ids.length;
  return show(call, context, {
    place: "dead",
    title: "What a redrive would do",
    body: html`${within(context, null)}
      <p class="lead">Of ${titleOf(choice)}: ${plural(would, "notification")} would be owed again, ${count(foreseen.refused.length)} would be left. Nothing has been changed.</p>
      ${picked.more ? html`<p class="warn">More than ${count(most)} fit: one redrive takes so many, the longest dead first.</p>` : ""}
      ${again(foreseen)}${left(foreseen)}
      ${would > 0 && context.writer ? doIt(context, choice, would) : ""}
      <p><a href="${pageOf(choice)}">Back, and change nothing</a></p>`,
  });
}

const again = ({ reasons }: Foreseen): Html =>
  reasons.length === 0
    ? html``
    : html`${table(
        "Owed again, by their reasons",
        [
          { name: "Reason", cell: ({ reason }) => reason },
          { name: "How many", cell: ({ count: of }) => count(of), number: true },
          {
            name: "To be mended before",
            cell: ({ reason }) => adviceFor({ state: "dead", reason, moot: null }),
          },
        ],
        reasons.slice(0, shown),
      )}${more(Math.max(0, reasons.length - shown))}`;

function left({ moot, refused }: Foreseen): Html {
  if (refused.length === 0) return html``;
  return html`${
    moot.length === 0
      ? ""
      : table(
          "Left, since they are no longer true",
          [
            { name: "Why", cell: ({ reason }) => mootText(reason) },
            { name: "How many", cell: ({ count: of }) => count(of), number: true },
            { name: "What to do", cell: ({ reason }) => mootAdvice(reason) },
          ],
          moot,
        )
  }${leftOnes(refused)}`;
}

/** Each one that is left, and why. */
export const leftOnes = (refused: readonly { id: string; why: string }[]): Html =>
  refused.length === 0
    ? html``
    : html`${table(
        "Left as they are",
        [
          { name: "Notification", cell: ({ id }) => notification(id) },
          { name: "Why", cell: ({ why }) => why },
        ],
        refused.slice(0, shown),
      )}${more(Math.max(0, refused.length - shown))}`;

const doIt = (context: Context, choice: Choice, would: number): Html => html`<h2>Do it</h2>
  <p>The ledger owes them again, with your name and the reason, and removes their messages from the dead-letter queue. The next sweep publishes them.</p>
  ${form(context, "/dead/redrive", {
    button: `Owe ${would === 1 ? "it" : `these ${count(would)}`} again`,
    fields: html`${fieldsOf(choice)}${hidden("foreseen", String(would))}`,
    why: "the provider is back",
  })}`;
