import { liftSuppression } from "@owed/ledger";
import type { Command } from "commander";
import { liftAdvice } from "../advice.ts";
import { actorOf, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { mask } from "../text/mask.ts";

type Options = { channel: string; why: string };

export function lift(program: Command, run: Run): void {
  teach(program, "lift", {
    summary: "write to a suppressed address again",
    description:
      "Lifts the suppression of an address. The provider's own suppression list is separate: lift it there too, first if you can (SES: aws sesv2 delete-suppressed-destination).",
    changes:
      "the ledger: the address is written to again, from the next notification on, and who lifted it and why is kept. What was cancelled meanwhile stays so; a dead one can be redriven.",
    examples: ['lift ann@example.com --channel email --why "the mailbox is there again, she called"'],
  })
    .argument("<address>", "the address in full, upper and lower case alike", text)
    .requiredOption("--channel <channel>", "the channel, such as email", text)
    .requiredOption("--why <text>", "why, for the record", text)
    .action((address: string, { channel, why }: Options, command: Command) => {
      const act = { actor: actorOf(command), why };
      return run("writes", async ({ ledger }) => {
        await liftSuppression(ledger, { channel, address }, act);
        const note = liftAdvice(channel);
        return {
          json: { channel, address: mask(address), lifted: true, ...act, note },
          lines: [`${mask(address)} is written to again, from the next notification on.`, note],
        };
      });
    });
}
