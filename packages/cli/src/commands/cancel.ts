import { cancel as cancelNotification } from "@owed/ledger";
import type { Command } from "commander";
import { actorOf, notificationId, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";

export function cancel(program: Command, run: Run): void {
  teach(program, "cancel", {
    summary: "a notification is no longer wanted",
    description:
      "Cancels a notification that waits, is in the queue, or is dead or held. One that is being sent, awaits evidence or has ended can't be.",
    changes:
      "the ledger: the notification is cancelled for good. Its message in a queue is then acknowledged without a send.",
    examples: ['cancel 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001 --why "the order was withdrawn"'],
  })
    .argument("<notification>", "its id", notificationId)
    .requiredOption("--why <text>", "why, for the record", text)
    .action((id: string, { why }: { why: string }, command: Command) => {
      const actor = actorOf(command);
      return run("writes", async ({ ledger }) => {
        await cancelNotification(ledger, id, { actor, why });
        return {
          json: { id, state: "cancelled", actor, why },
          lines: [`Cancelled ${id}: it will not be sent.`],
        };
      });
    });
}
