import { pause as pauseSweeps, readStatus } from "@owed/ledger";
import type { Command } from "commander";
import { actorOf, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { time } from "../text/time.ts";

export function pause(program: Command, run: Run): void {
  teach(program, "pause", {
    summary: "stop the sweeps: what falls due waits in the ledger",
    description:
      "Pauses the sweeps, and says who did. What falls due meanwhile waits in the ledger; what is in the queue already is still delivered.",
    changes: "the ledger: no sweep publishes anything until 'owed resume'. Pausing twice keeps the first.",
    examples: ['pause --why "provider maintenance until 14:00"'],
  })
    .option("--why <text>", "why, for whoever reads 'owed status'", text)
    .action((options: { why?: string }, command: Command) => {
      const actor = actorOf(command);
      return run("writes", async ({ ledger }) => {
        const changed = await pauseSweeps(ledger, actor, options.why ?? null);
        const { paused } = await readStatus(ledger);
        const lines = changed
          ? ["The sweeps are paused. What falls due waits in the ledger: owed resume"]
          : [
              `The sweeps were paused already${paused ? ` by ${paused.by} since ${time(paused.at)}` : ""}: nothing was done.`,
            ];
        return { json: { changed, paused }, lines };
      });
    });
}
