import { templateNames } from "@owed/channel/template-names";
import type { Checked } from "@owed/cli/rules/check";
import type { Finding } from "@owed/cli/rules/findings";
import { whatItDoes, whenIt } from "@owed/cli/rules/text";
import { plural } from "@owed/cli/text/words";
import type { Rule, RuleVersion } from "@owed/ledger";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";
import { type Column, table } from "../page/parts.ts";
import { commandLine } from "./command-line.ts";
import { addressOf, type ListQuery } from "./query.ts";

/** Merchants' own rules on one page at most. */
const most = 500;

/** Who is told what, and what about it somebody should know. */
export function listView(context: Context, { rules, statuses, findings }: Checked, query: ListQuery): Html {
  const ofStatus = rules.filter(({ status }) => query.status === "" || status === query.status);
  const defaults = ofStatus.filter(({ merchantId }) => merchantId === null);
  const own = ofStatus.filter(
    ({ merchantId }) => merchantId !== null && (query.merchant === "" || merchantId === query.merchant),
  );
  return html`<p>A rule says what a status tells a role by a channel, and when. A merchant's own rules for a status, role and channel stand in place of the default ones for these three.</p>
  <ul class="links">
    <li><a href="/rules/try">What would an event tell?</a></li>
    <li><a href="/rules/templates">Templates, in each language and channel</a></li>
  </ul>
  <form method="get" class="ask" action="/rules">
    <label>Status <select name="status"><option value="">all</option>${statuses.map((status) => option(status, query.status))}</select></label>
    <label>Merchant's id <input name="merchant" maxlength="200" value="${query.merchant}"></label>
    <button>Show</button>
  </form>
  ${defaults.length === 0 ? html`<p>No default rule ${query.status === "" ? "counts" : html`for <bdi>${query.status}</bdi> counts`}.</p>` : table("The default rules", columns, defaults)}
  ${own.length === 0 ? html`<p>${query.merchant === "" ? "No merchant has rules of its own here." : html`The merchant <bdi>${query.merchant}</bdi> has no rules of its own here: the default ones count.`}</p>` : table("Merchants' own rules", [merchant, ...columns], own.slice(0, most))}
  ${own.length > most ? html`<p>… and ${own.length - most} more: name one merchant.</p>` : ""}
  ${found(findings)}
  <h2>Change one</h2>
  <p>Rules are changed on the command line, with a reason; <code>--dry-run</code> says first what would change. A change counts from the next event on.</p>
  ${commandLine(context, ["rules", "set", "--help"])}`;
}

export const option = (name: string, chosen: string): Html =>
  html`<option value="${name}" ${name === chosen ? "selected" : ""}>${name}</option>`;

const merchant: Column<Rule> = { name: "Merchant", cell: ({ merchantId }) => html`<bdi>${merchantId}</bdi>` };

const columns: readonly Column<RuleVersion>[] = [
  { name: "Status", cell: ({ status }) => status },
  { name: "Tells", cell: ({ role }) => role },
  { name: "By", cell: ({ channel }) => channel },
  { name: "What", cell: templateOf },
  { name: "When", cell: whenIt },
  { name: "And", cell: whatItDoes },
  {
    name: "Version",
    cell: (rule) => html`<a href="${historyOf(rule)}">${rule.version}, history of rule ${rule.id}</a>`,
  },
];

function templateOf({ template, channel, role }: Rule): Html {
  if (!templateNames.has(template))
    return html`<bdi>${template}</bdi> <span class="bad">(there is none)</span>`;
  return html`<a href="${addressOf("/rules/templates/preview", { template, channel, role })}">${template}</a>`;
}

export const historyOf = ({ merchantId, status, role, channel, template }: Rule): string =>
  addressOf("/rules/history", { merchant: merchantId ?? "", status, role, channel, template });

function found(findings: readonly Finding[]): Html {
  const errors = findings.filter(({ level }) => level === "error").length;
  return html`<h2>What somebody should know</h2>
  <p class="${errors > 0 ? "bad" : ""}">${plural(errors, "error")}, ${plural(findings.length - errors, "warning")}, as <code>owed rules check</code> finds them, of all rules.</p>
  ${findings.length === 0 ? "" : html`<ul>${findings.map(({ level, says }) => html`<li><strong class="${level === "error" ? "bad" : "warn"}">${level}</strong>: <bdi>${says}</bdi></li>`)}</ul>`}`;
}
