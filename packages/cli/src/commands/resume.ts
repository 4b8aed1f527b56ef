import { resume as resumeSweeps } from "@owed/ledger";
import type { Command } from "commander";
import { actorOf, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";

export function resume(program: Command, run: Run): void {
  teach(program, "resume", {
    summary: "let the sweeps run again: the next one begins to drain",
    description: "Lets the sweeps run again. The next ones publish what became due meanwhile, oldest first.",
    changes:
      "the ledger: the pause ends, and who ended it is kept. 'owed sweep' does not wait for the schedule.",
    examples: ["resume", "resume && npm run owed -- sweep"],
  })
    .option("--why <text>", "why, for the record", text)
    .action((options: { why?: string }, command: Command) => {
      const said = { actor: actorOf(command), why: options.why ?? null };
      return run("writes", async ({ ledger }) => {
        const changed = await resumeSweeps(ledger, said);
        const lines = changed
          ? ["The sweeps run again: the next one begins to drain."]
          : ["The sweeps were not paused: nothing was done."];
        return { json: { changed, paused: null }, lines };
      });
    });
}
