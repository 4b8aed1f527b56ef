import { resolveAsSent } from "@owed/ledger";
import type { Command } from "commander";
import { actorOf, notificationId, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";
import { owe } from "./replay.ts";

type Options = { sent?: true; resend?: true; why: string };

export function resolve(program: Command, run: Run): void {
  teach(program, "resolve", {
    summary: "say what became of an unknown notification",
    description:
      "For a notification whose outcome nobody knows, or that is dead: say that it was sent (you found it at the provider, or the recipient has it), or that it is to be sent again.",
    changes:
      "the ledger: --sent makes it delivered, on your evidence; --resend owes it again, counted as a possible duplicate if it was unknown.",
    examples: [
      'resolve 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001 --sent --why "the buyer forwarded it to us"',
      'resolve 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001 --resend --why "not in the provider\'s log"',
    ],
  })
    .argument("<notification>", "its id", notificationId)
    .option("--sent", "it was sent: delivered, on your evidence")
    .option("--resend", "it is owed again")
    .requiredOption("--why <text>", "on what grounds, for the record", text)
    .action((id: string, { sent, resend, why }: Options, command: Command) => {
      if (sent === resend) throw new Failure("usage", "say one of --sent and --resend");
      const act = { actor: actorOf(command), why };
      return run("writes", async ({ ledger }) => {
        if (resend) return owe(ledger, id, act);
        await resolveAsSent(ledger, id, act);
        return {
          json: { id, state: "delivered", evidence: "operator", ...act },
          lines: [`${id} is delivered, on your evidence.`],
        };
      });
    });
}
