import { listSuppressions, type Suppression } from "@owed/ledger";
import type { Command } from "commander";
import { limit, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { mask } from "../text/mask.ts";
import { table } from "../text/table.ts";
import { time } from "../text/time.ts";

type Options = { address?: string; lifted?: true; limit: number; full?: true };

export function suppressed(program: Command, run: Run): void {
  teach(program, "suppressed", {
    summary: "addresses that are not written to, and why",
    description:
      "Addresses that a notification bounced at for good, or whose recipient complained, newest first: nothing is sent to them until the suppression is lifted. What is owed to them meanwhile is cancelled as suppressed.",
    changes: "nothing. 'owed lift' lifts one.",
    examples: ["suppressed", "suppressed --address ann@example.com --lifted --full"],
  })
    .option("--address <address>", "this one, upper and lower case alike", text)
    .option("--lifted", "those that were lifted as well")
    .option("--limit <n>", "at most so many", limit(10_000), 50)
    .option("--full", "addresses in full; they are masked otherwise")
    .action((options: Options) =>
      run("reads", async ({ ledger }) => {
        const found = await listSuppressions(ledger, {
          address: options.address,
          lifted: options.lifted ?? false,
          limit: options.limit + 1,
        });
        const suppressions = found
          .slice(0, options.limit)
          .map((row) => (options.full ? row : { ...row, address: mask(row.address) }));
        const more = found.length > suppressions.length;
        return { json: { suppressions, more }, lines: lines(suppressions, options, more) };
      }),
    );
}

function lines(suppressions: readonly Suppression[], { address, lifted }: Options, more: boolean): string[] {
  if (suppressions.length === 0) {
    if (address === undefined) return [`No address is ${lifted ? "or was " : ""}suppressed.`];
    return [`This address ${lifted ? "never was" : "is not"} suppressed.`];
  }
  const list = table(
    ["since", "channel", "address", "cause", "the provider said", "notification", "lifted"],
    suppressions.map((row) => [
      time(row.suppressedAt),
      row.channel,
      row.address,
      row.cause,
      row.detail,
      row.notificationId,
      row.lifted && `${time(row.lifted.at)} by ${row.lifted.by}: ${row.lifted.why}`,
    ]),
  );
  return [...list, ...(more ? ["… and more: --limit"] : [])];
}
