import { templateNames } from "@owed/channel/template-names";
import { type Ledger, listRules, listStatuses, type RuleVersion } from "@owed/ledger";
import { type Finding, findingsOf } from "./findings.ts";

export type Checked = { rules: RuleVersion[]; statuses: string[]; findings: Finding[] };

/** The rules that count, the statuses that there are, and what about the rules somebody should know. */
export async function checkRules(ledger: Ledger): Promise<Checked> {
  const [rules, statuses] = await Promise.all([listRules(ledger, { history: false }), listStatuses(ledger)]);
  return { rules, statuses, findings: findingsOf(rules, { statuses, templates: templateNames }) };
}
