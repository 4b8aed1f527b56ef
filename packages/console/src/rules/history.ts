import { whatItDoes, whenIt } from "@owed/cli/rules/text";
import { listRules, type RuleVersion } from "@owed/ledger";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";
import { table, time } from "../page/parts.ts";
import { commandLine } from "./command-line.ts";
import type { RuleQuery } from "./query.ts";

/**
 * A rule's versions, the newest first.
 *
 * @throws HTTPException 404 where there never was such a rule
 */
export async function readVersions(
  { ledger }: Context,
  { merchant, status, role, channel, template }: RuleQuery,
): Promise<[RuleVersion, ...RuleVersion[]]> {
  const rules = await listRules(ledger, { merchantId: merchant || undefined, status, history: true });
  const [newest, ...older] = rules.filter(
    (rule) =>
      rule.merchantId === (merchant || null) &&
      rule.role === role &&
      rule.channel === channel &&
      rule.template === template,
  );
  if (!newest)
    throw new HTTPException(404, {
      message: "There never was such a rule: the page Rules and templates has those that count.",
    });
  return [newest, ...older];
}

export function historyView(context: Context, versions: [RuleVersion, ...RuleVersion[]]): Html {
  const [{ id, active, merchantId, status, role, channel, template }] = versions;
  const place = ["--status", status, "--role", role, "--channel", channel, "--template", template];
  const ofMerchant = merchantId === null ? [] : ["--merchant", merchantId];
  return html`<p><a href="/rules">All rules</a></p>
  <p>${merchantId === null ? "The default rule" : html`The own rule of the merchant <bdi>${merchantId}</bdi>`}: ${status} tells the ${role} by ${channel}, <bdi>${template}</bdi>. ${active ? "It counts." : html`<strong class="warn">It does not count any more.</strong>`}</p>
  ${table(
    "Its versions, newest first",
    [
      { name: "Version", cell: ({ version }) => version, number: true },
      { name: "Rule", cell: (rule) => rule.id },
      { name: "When", cell: whenIt },
      { name: "And", cell: whatItDoes },
      { name: "Set", cell: ({ setAt, setBy, setWhy }) => noted(setAt, setBy, setWhy) },
      { name: "Retired", cell: retired },
    ],
    versions,
  )}
  <h2>Change it</h2>
  <p>On the command line: name what is to change, such as <code>--delay 2h</code>, and say why. What is owed already keeps the version it came from.</p>
  ${commandLine(context, ["rules", "set", ...ofMerchant, ...place, "--dry-run", "--why", "your reason"])}
  ${active ? html`<p>So that it tells nobody any more:</p>${commandLine(context, ["rules", "retire", id, "--why", "your reason"])}` : ""}`;
}

const noted = (at: Date, by: string | null, why: string | null): Html =>
  html`${time(at)} by <bdi>${by ?? "–"}</bdi>: <bdi>${why ?? "–"}</bdi>`;

const retired = ({ retiredAt, retiredBy, retiredWhy }: RuleVersion): Html | null =>
  retiredAt && noted(retiredAt, retiredBy, retiredWhy);
