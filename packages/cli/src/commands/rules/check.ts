import { templateNames } from "@owed/channel/template-names";
import { listRules, listStatuses } from "@owed/ledger";
import type { Command } from "commander";
import { type Run, teach } from "../../command.ts";
import { findingsOf } from "../../rules/findings.ts";
import { plural } from "../../text/words.ts";

export function check(rules: Command, run: Run): void {
  teach(rules, "check", {
    summary: "what about the rules somebody should know",
    description:
      "Looks through the rules that count: templates that do not exist, statuses that tell nobody, what is never too late, a merchant's rules that leave out a follow-up. Exits with 1 when there is an error.",
    changes: "nothing.",
    examples: ["rules check"],
  }).action(() =>
    run("reads", async ({ ledger }) => {
      const [counting, statuses] = await Promise.all([
        listRules(ledger, { history: false }),
        listStatuses(ledger),
      ]);
      const findings = findingsOf(counting, { statuses, templates: templateNames });
      const errors = findings.filter(({ level }) => level === "error").length;
      return {
        json: { rules: counting.length, errors, findings },
        lines: [
          ...findings.map(({ level, says }) => `${level}: ${says}`),
          `${plural(counting.length, "rule")}: ${plural(errors, "error")}, ${plural(findings.length - errors, "warning")}`,
        ],
        exitCode: errors === 0 ? 0 : 1,
      };
    }),
  );
}
