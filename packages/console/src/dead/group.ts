import { adviceFor } from "@owed/cli/advice";
import { mootText } from "@owed/cli/text/moot";
import { countStopped, listStopped, readMoot, type Stopped } from "@owed/ledger";
import type { Context as Call } from "hono";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import { type Html, show } from "../page/page.ts";
import { form, table } from "../page/parts.ts";
import { type Filter, wordsOf } from "./choice.ts";
import { choosing, count, fieldsOf, more, narrow, plural, shown, stoppedColumns, within } from "./parts.ts";

/** The dead letters that fit, the longest dead first: to redrive one, some, or all of them. */
export async function group(call: Call, context: Context, filter: Filter) {
  const { channel, reason, shipment } = filter;
  const found = await listStopped(context.ledger, {
    ...{ state: "dead", channel, reason, shipmentId: shipment, limit: shown + 1 },
  });
  const rows = found.slice(0, shown);
  const all = found.length > shown ? await countFitting(context, filter) : rows.length;
  const moot = await readMoot(
    context.ledger,
    rows.map(({ id }) => id),
  );
  return show(call, context, {
    place: "dead",
    title: "Dead letters",
    body: html`${within(context, null)}
      ${narrow("/dead", filter)}
      <p class="lead">${all === null ? `More than ${shown} are dead` : plural(all, "is dead", "are dead")} ${wordsOf(filter)}.</p>
      ${advice(rows, moot)}
      ${
        rows.length === 0
          ? html`<p>Nothing dead fits. <a href="/dead">See all that waits.</a></p>`
          : choosing(
              context,
              "/dead/try",
              list(context, rows, moot),
              html`<button>See what a redrive of the chosen would do</button>`,
            )
      }
      ${more(all === null ? null : all - rows.length)}
      ${context.writer && rows.length > 0 ? wholeGroup(context, filter, all) : ""}`,
  });
}

/** What can be done about these, each once, with the code words of their reasons. */
function advice(rows: readonly Stopped[], moot: ReadonlyMap<string, string>): Html {
  const judged = rows.map((row) => ({ ...row, moot: moot.get(row.id) ?? null }));
  const ways = Map.groupBy(judged, adviceFor);
  if (ways.size === 0) return html``;
  return html`<h2>What to do</h2>
    <ul>${[...ways].map(([what, of]) => html`<li>${[...new Set(of.map(codeOf))].slice(0, 5).join(", ")}: ${what}</li>`)}</ul>`;
}

const codeOf = ({ reason, moot }: Stopped & { moot: string | null }): string => {
  const code = reason.split(":")[0] ?? reason;
  return moot === null ? code : `${code}, and ${mootText(moot)}`;
};

/** How many fit: the groups whose reason begins so; null where a shipment's are asked for, which nobody counted. */
async function countFitting({ ledger }: Context, { channel, reason = "", shipment }: Filter) {
  if (shipment !== undefined) return null;
  const groups = await countStopped(ledger);
  return groups
    .filter((group) => group.state === "dead" && group.reason.startsWith(reason))
    .filter((group) => channel === undefined || group.channel === channel)
    .reduce((sum, { rows }) => sum + rows, 0);
}

const list = (context: Context, rows: readonly Stopped[], moot: ReadonlyMap<string, string>): Html =>
  table(
    "Dead letters, the longest dead first",
    [
      ...stoppedColumns(context, "Dead since"),
      { name: "Reason", cell: ({ reason }) => reason },
      {
        name: "Still true",
        cell: ({ id }) => {
          const untrue = moot.get(id);
          return untrue === undefined ? "yes" : `no: ${mootText(untrue)}`;
        },
      },
    ],
    rows,
  );

const wholeGroup = (context: Context, filter: Filter, all: number | null): Html =>
  form(context, "/dead/try", {
    button: `See what a redrive of ${all === null ? "all that fit" : all === 1 ? "this one" : `all ${count(all)}`} would do`,
    fields: fieldsOf({ filter }),
  });
