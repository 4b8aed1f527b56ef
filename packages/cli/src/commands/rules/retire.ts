import { retireRule } from "@owed/ledger";
import { type Command, InvalidArgumentError } from "commander";
import { actorOf, text } from "../../arguments.ts";
import { type Run, teach } from "../../command.ts";

export function retire(rules: Command, run: Run): void {
  teach(rules, "retire", {
    summary: "have a rule tell nobody any more",
    description:
      "Retires a rule, from the next event on. What it owes already stays owed. A merchant whose last own rule for a status, role and channel is retired has the default ones again; to have one told nothing, set a silent rule.",
    changes: "the rules.",
    examples: ['rules retire 17 --why "the agents see it in their console"'],
  })
    .argument("<rule>", "its id, as 'owed rules list' has it", ruleId)
    .requiredOption("--why <text>", "why, for the record", text)
    .action((id: string, { why }: { why: string }, command: Command) => {
      const act = { actor: actorOf(command), why };
      return run("writes", async ({ ledger }) => {
        await retireRule(ledger, id, act);
        return { json: { id, active: false, ...act }, lines: [`Rule ${id} is retired.`] };
      });
    });
}

function ruleId(given: string): string {
  if (!/^[1-9]\d{0,17}$/.test(given))
    throw new InvalidArgumentError("A rule's id is a whole number; 'owed rules list' has them.");
  return given;
}
