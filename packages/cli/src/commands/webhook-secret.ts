import { readModes } from "@owed/ledger";
import type { Command } from "commander";
import { text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";

export function webhookSecret(program: Command, run: Run): void {
  teach(program, "webhook-secret", {
    summary: "what a merchant checks our webhooks' signatures with",
    description:
      "Prints the secret that a merchant's webhooks are signed with, by the Standard Webhooks specification: hand it to the merchant, and to nobody else. It is derived from the stage's key; while that is rotated, webhooks are signed with the secret of each key.",
    changes: "nothing.",
    examples: ["webhook-secret --merchant shop-7"],
  })
    .requiredOption("--merchant <id>", "the merchant", text)
    .action(({ merchant }: { merchant: string }) =>
      run("reads", async ({ ledger, webhookKey }) => {
        const key = await webhookKey();
        if (key === null)
          throw new Failure(
            "not_configured",
            "this stage sends no webhooks: nothing is linked as WebhookKey (docs/deploy.md)",
          );
        // A misspelt id has a secret too, and no webhook is ever signed with it.
        const { merchants } = await readModes(ledger, merchant, 1);
        if (merchants.length === 0)
          throw new Failure(
            "not_found",
            `the ledger knows no merchant ${merchant}: 'owed cutover' lists those there are`,
          );
        const { secretsOf } = await import("@owed/channel");
        const [secret = "", ...earlier] = secretsOf(key, merchant);
        return {
          json: { merchant, secret, earlier },
          lines: [secret, ...earlier.map((old) => `${old}  (earlier, until the rotation is over)`)],
        };
      }),
    );
}
