import { defaultDurations, openChannel, readChannels } from "@owed/ledger";
import type { Command } from "commander";
import { actorOf, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { wasClosed } from "../text/channel.ts";

export function open(program: Command, run: Run): void {
  teach(program, "open", {
    summary: "let a channel send again, whatever closed it",
    description:
      "Opens a channel that somebody, its quota, its provider's word or its breaker has closed, and forgets its failures. If the cause is still there, the next workers close it again.",
    changes:
      "the ledger: the channel is open, and the next sweep publishes what it may. Why it was closed is printed, and gone from its row; who opened it, and why, is kept.",
    examples: ['open email --why "the template is corrected"'],
  })
    .argument("<channel>", "the channel, such as email", text)
    .requiredOption("--why <text>", "why, for the record", text)
    .action((channel: string, { why }: { why: string }, command: Command) => {
      const actor = actorOf(command);
      return run("writes", async ({ ledger }) => {
        const before = (await readChannels(ledger, defaultDurations)).find(
          ({ name }) => name === channel,
        )?.closed;
        const changed = await openChannel(ledger, channel, { actor, why });
        const lines = changed
          ? [`The channel ${channel} is open: the next sweep publishes what it may (${actor}: ${why}).`]
          : [`The channel ${channel} was open: its failures are forgotten.`];
        if (changed && before) lines.push(`It was ${wasClosed(before)}.`);
        return { json: { channel, changed, before: (changed && before) || null, actor, why }, lines };
      });
    });
}
