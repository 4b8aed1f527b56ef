import { closeChannel } from "@owed/ledger";
import type { Command } from "commander";
import { actorOf, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";

export function close(program: Command, run: Run): void {
  teach(program, "close", {
    summary: "send nothing by a channel until somebody opens it",
    description:
      "Closes a channel: nothing is published for it or sent by it, and what the queue still has goes back to the ledger as its messages come. What falls due waits there, and can be cancelled or become untrue meanwhile. A call that a worker has begun is not stopped.",
    changes:
      "the ledger: the channel is closed until 'owed open'; who and why stand in 'owed status'. A channel that was closed for another reason stays closed, for yours; closing twice keeps the first.",
    examples: ['close email --why "the wrong template is live"'],
  })
    .argument("<channel>", "the channel, such as email", text)
    .requiredOption("--why <text>", "why, for whoever reads 'owed status'", text)
    .action((channel: string, { why }: { why: string }, command: Command) => {
      const actor = actorOf(command);
      return run("writes", async ({ ledger }) => {
        const changed = await closeChannel(ledger, channel, { actor, why });
        const lines = changed
          ? [`The channel ${channel} is closed. What falls due waits in the ledger: owed open ${channel}`]
          : [`The channel ${channel} was closed by somebody already, see 'owed status': nothing was done.`];
        return { json: { channel, closed: true, changed, actor, why }, lines };
      });
    });
}
