import { listRules, type RuleVersion } from "@owed/ledger";
import type { Command } from "commander";
import { text } from "../../arguments.ts";
import { type Run, teach } from "../../command.ts";
import { whatItDoes, whenIt } from "../../rules/text.ts";
import { table } from "../../text/table.ts";
import { time } from "../../text/time.ts";

type Options = { merchant?: string; status?: string; history?: boolean };

export function list(rules: Command, run: Run): void {
  teach(rules, "list", {
    summary: "the rules that count",
    description:
      "The rules that count, the default ones first. A merchant's own rules for a status, role and channel stand in place of the default ones for these three.",
    changes: "nothing.",
    examples: ["rules list", "rules list --merchant shop-7", "rules list --status customs_hold --history"],
  })
    .option("--merchant <id>", "the default rules and this merchant's alone", text)
    .option("--status <status>", "of one status", text)
    .option("--history", "the earlier versions too, with who changed them and why")
    .action(({ merchant, status, history = false }: Options) =>
      run("reads", async ({ ledger }) => {
        const rules = await listRules(ledger, { merchantId: merchant, status, history });
        return { json: { rules }, lines: history ? withHistory(rules) : counting(rules) };
      }),
    );
}

const counting = (rules: readonly RuleVersion[]): string[] =>
  table(
    ["merchant", "status", "tells", "by", "template", "when", "else", "version", "rule"],
    rules.map((rule) => [
      rule.merchantId ?? "(default)",
      rule.status,
      rule.role,
      rule.channel,
      rule.template,
      whenIt(rule),
      whatItDoes(rule),
      String(rule.version),
      rule.id,
    ]),
  );

const withHistory = (rules: readonly RuleVersion[]): string[] =>
  table(
    ["merchant", "status", "tells", "by", "template", "version", "when", "else", "set", "retired", "rule"],
    rules.map((rule) => [
      rule.merchantId ?? "(default)",
      rule.status,
      rule.role,
      rule.channel,
      rule.template,
      String(rule.version),
      whenIt(rule),
      whatItDoes(rule),
      `${time(rule.setAt)} by ${rule.setBy}: ${rule.setWhy}`,
      rule.retiredAt && `${time(rule.retiredAt)} by ${rule.retiredBy}: ${rule.retiredWhy}`,
      rule.id,
    ]),
  );
