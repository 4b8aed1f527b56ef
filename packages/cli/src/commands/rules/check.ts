import type { Command } from "commander";
import { type Run, teach } from "../../command.ts";
import { checkRules } from "../../rules/check.ts";
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
      const { rules: counting, findings } = await checkRules(ledger);
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
