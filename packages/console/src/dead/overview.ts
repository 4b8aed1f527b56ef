import { adviceFor } from "@owed/cli/advice";
import { countStopped, type Ledger, listStopped, type StoppedGroup } from "@owed/ledger";
import type { Context as Call } from "hono";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import { type Html, show } from "../page/page.ts";
import { form, table, time } from "../page/parts.ts";
import { queryOf } from "./choice.ts";
import { count, fieldsOf, more, narrow, plural, shown, since, within } from "./parts.ts";
import { queues } from "./queues.ts";
import type { Run, Runs } from "./runs.ts";

/** What is to be done about unknown outcomes: the forms are on their page. */
const decide = "look for it at the provider or ask the recipient, then say what became of it";

/** Rows of a group that are read for what to do about it. */
const sample = 20;

type Group = StoppedGroup & { advice: readonly string[] };

/** What waits for a person, in groups, the largest first. */
export async function overview(call: Call, context: Context, runs: Runs) {
  const [groups, letters] = await Promise.all([countStopped(context.ledger), queues(context)]);
  const dead = sumOf(groups.filter(({ state }) => state === "dead"));
  const unknown = sumOf(groups) - dead;
  const advised = await Promise.all(
    groups
      .slice(0, shown)
      .map(async (group) => ({ ...group, advice: await adviceOn(context.ledger, group) })),
  );
  return show(call, context, {
    place: "dead",
    title: "Dead letters",
    body: html`${within(context, "dead")}
      <p class="lead">${
        groups.length === 0
          ? "Nothing waits for a person."
          : `${plural(dead + unknown, "notification waits", "notifications wait")} for a person: ${count(dead)} dead, ${count(unknown)} of unknown outcome.`
      }</p>
      ${groups.length === 0 ? "" : html`${list(advised)}${more(groups.length - advised.length)}`}
      ${context.writer && dead > 0 ? wholeForm(context, dead) : ""}
      ${dead === 0 ? "" : html`<h2>Find dead ones</h2>${narrow("/dead", {})}`}
      <h2>The dead-letter queues</h2>
      ${letters}
      ${ofThisConsole(runs.list())}`,
  });
}

/** What can be done about those of a group that have waited longest: their reasons differ after the code word. */
async function adviceOn(ledger: Ledger, { state, channel, reason }: StoppedGroup): Promise<string[]> {
  if (state === "unknown") return [decide];
  const rows = await listStopped(ledger, { state, channel, reason, limit: sample });
  return [...new Set(rows.map((row) => adviceFor({ ...row, moot: null })))];
}

const sumOf = (groups: readonly StoppedGroup[]) => groups.reduce((sum, { rows }) => sum + rows, 0);

const list = (groups: readonly Group[]): Html =>
  table(
    "Why they stopped",
    [
      { name: "Reason", cell: (group) => html`<a href="${linkOf(group)}">${group.reason}</a>` },
      { name: "State", cell: ({ state }) => (state === "unknown" ? "unknown outcome, held" : "dead") },
      { name: "Channel", cell: ({ channel }) => channel },
      { name: "How many", cell: ({ rows }) => count(rows), number: true },
      { name: "Stopped", cell: ({ oldestAt, newestAt }) => since(oldestAt, newestAt) },
      { name: "What to do", cell: ({ advice }) => advice.join("; or: ") },
    ],
    groups,
  );

const linkOf = ({ state, channel, reason }: StoppedGroup): string =>
  state === "dead" ? `/dead${queryOf({ channel, reason })}` : `/dead/unknown${queryOf({ channel })}`;

const wholeForm = (context: Context, dead: number): Html =>
  form(context, "/dead/try", {
    button: `See what a redrive of all ${count(dead)} dead would do`,
    fields: fieldsOf({ filter: {} }),
  });

const ofThisConsole = (runs: readonly Run[]): Html =>
  runs.length === 0
    ? html``
    : html`<h2>Begun in this console</h2>
      ${table(
        "Redrives since this console was started",
        [
          { name: "Begun", cell: ({ began }) => time(began) },
          { name: "What", cell: ({ id, title }) => html`<a href="/dead/runs/${id}">${title}</a>` },
          { name: "Who", cell: ({ by }) => by.actor },
          { name: "Why", cell: ({ by }) => by.why },
          {
            name: "State",
            cell: ({ outcome }) => (outcome ? (outcome.failed ? "failed" : "done") : "goes on"),
          },
        ],
        runs,
      )}`;
