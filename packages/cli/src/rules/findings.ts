import type { Rule } from "@owed/ledger";

/** Something about the rules that somebody should know. An error never lets a rule do what it says. */
export type Finding = { level: "error" | "warning"; rule: string | null; says: string };

export type Known = {
  statuses: readonly string[];
  templates: ReadonlySet<string>;
};

const nameOf = ({ merchantId, status, role, channel, template }: Rule): string =>
  `${merchantId ?? "default"}: ${status} ${role} ${channel} ${template}`;

const placeOf = ({ status, role, channel }: Rule): string => `${status} ${role} ${channel}`;

/** Looks through the rules that count. */
export function findingsOf(rules: readonly Rule[], { statuses, templates }: Known): Finding[] {
  const defaults = rules.filter(({ merchantId }) => merchantId === null);
  return [
    ...rules.flatMap((rule) =>
      ofOne(rule, templates).map(
        ([level, says]): Finding => ({ level, rule: rule.id, says: `${nameOf(rule)}: ${says}` }),
      ),
    ),
    ...statuses
      .filter((status) => !defaults.some((rule) => rule.status === status && !rule.silent))
      .map(
        (status): Finding => ({ level: "warning", rule: null, says: `the status ${status} tells nobody` }),
      ),
    ...leftOut(rules, defaults),
  ];
}

function ofOne(rule: Rule, templates: ReadonlySet<string>): [Finding["level"], string][] {
  if (rule.silent) return [];
  const findings: [Finding["level"], string][] = [];
  if (!templates.has(rule.template))
    findings.push(["error", "there is no such template: what it owes would be refused, and end as dead"]);
  if (rule.sendWithin === null)
    findings.push(["warning", "it is never too late: after an outage of days it would still be sent"]);
  if ((rule.delay >= 3600 || rule.atTime !== null) && !rule.onlyWhileCurrent && !rule.newestReplaces)
    findings.push(["warning", "it is sent later, and although the shipment may have moved on by then"]);
  return findings;
}

/** A merchant's own rules stand in place of all the default ones of their place: a follow-up is easily forgotten. */
function leftOut(rules: readonly Rule[], defaults: readonly Rule[]): Finding[] {
  const own = Map.groupBy(
    rules.filter(({ merchantId }) => merchantId !== null),
    (rule) => `${rule.merchantId} ${placeOf(rule)}`,
  );
  return [...own.values()].flatMap((ofPlace) => {
    const [first] = ofPlace;
    if (!first || ofPlace.some(({ silent }) => silent)) return [];
    return defaults
      .filter((rule) => placeOf(rule) === placeOf(first) && !rule.silent)
      .filter(({ template }) => !ofPlace.some((rule) => rule.template === template))
      .map(
        ({ template }): Finding => ({
          level: "warning",
          rule: first.id,
          says: `${first.merchantId}: ${placeOf(first)}: its own rules leave out ${template}, which the default ones have`,
        }),
      );
  });
}
