import { markRestored, readStatus } from "@owed/ledger";
import type { Command } from "commander";
import { actorOf, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { plural } from "../text/words.ts";

export function restored(program: Command, run: Run): void {
  teach(program, "restored", {
    summary: "say that the ledger was put back from a backup",
    description:
      "After a restore the ledger has forgotten what was sent since the backup. Every unfinished notification that has been due counts as unknown: the provider's events that are still on their way prove some, and after the grace the others are resent, each counted as a possible duplicate, or held, as their rules say. Before it: pause the schedule, and give the events since the backup to ingest again (an EventBridge archive replays them; those that are known already change nothing).",
    changes: "the ledger: pending, leased, queued and sending notifications that are due become unknown.",
    examples: ['restored --why "restored to 2026-03-29T09:00Z after the failed upgrade"'],
  })
    .requiredOption("--why <text>", "why, for each notification's history", text)
    .action(({ why }: { why: string }, command: Command) => {
      const actor = actorOf(command);
      return run("writes", async ({ ledger, settings }) => {
        const { durations } = await settings();
        const { paused } = await readStatus(ledger);
        const unknown = await markRestored(ledger, durations, { actor, why });
        const lines = [
          `${plural(unknown, "notification")} may have been sent since the backup: unknown until the provider's events say so, or the grace has passed.`,
        ];
        if (!paused)
          lines.push(
            "The sweeps were not paused: what they published since the restore may be double, and is not counted.",
          );
        return { json: { unknown, actor, why }, lines };
      });
    });
}
