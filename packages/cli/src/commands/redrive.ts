import type { Command } from "commander";
import { actorOf, limit, notificationIds, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";
import { previewQueue, redriveQueue } from "../redrive/of-queue.ts";
import { previewRows, redriveRows } from "../redrive/of-rows.ts";
import { pickByFilter, pickByIds } from "../redrive/pick.ts";

type Options = {
  shipment?: string;
  channel?: string;
  reason?: string;
  all?: true;
  limit: number;
  dryRun?: true;
  why?: string;
  wait: boolean;
};

export function redrive(program: Command, run: Run): void {
  teach(program, "redrive", {
    summary: "owe dead notifications again: some, all, or the whole dead-letter queue",
    description: `Gives dead notifications another try.
With ids, a filter or --all: the ledger owes these again and keeps who did it and why; their messages are removed from the dead-letter queue. Rows that never had a message there (no_address, lost) come back in this way only.
Without: starts SQS's own redrive of the dead-letter queue, as the AWS console does, and waits for its end. The ledger decides on each message again: what is delivered or no longer wanted is not sent.`,
    changes: "the ledger and the dead-letter queue; with --dry-run nothing.",
    examples: [
      "redrive --dry-run --reason ServiceUnavailable",
      'redrive --reason ServiceUnavailable --why "the provider is back"',
      'redrive 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001 --why "address corrected"',
      'redrive --why "the provider is back"',
    ],
  })
    .argument("[notification...]", "their ids", notificationIds)
    .option("--shipment <id>", "dead ones of one shipment", text)
    .option("--channel <channel>", "dead ones of one channel, such as email", text)
    .option("--reason <start>", "dead ones whose reason starts so, such as ServiceUnavailable", text)
    .option("--all", "all dead ones, by way of the ledger")
    .option("--limit <n>", "at most so many", limit(100_000), 10_000)
    .option("--dry-run", "say how many and which, and change nothing")
    .option("--why <text>", "why, for the record; needed with ids, a filter or --all", text)
    .option("--no-wait", "do not wait for the end of SQS's own redrive")
    .action((ids: string[] | undefined = [], options: Options, command: Command) => {
      const { shipment, channel, reason, all, limit: most, dryRun, why } = options;
      const filtered = [shipment, channel, reason].some((value) => value !== undefined);
      if ([ids.length > 0, filtered, all === true].filter(Boolean).length > 1)
        throw new Failure("usage", "give notifications, or a filter, or --all: one of the three");
      if (ids.length === 0 && !filtered && !all)
        return run(dryRun ? "reads" : "writes", (context) =>
          dryRun ? previewQueue(context, most) : redriveQueue(context, options),
        );
      if (!dryRun && why === undefined)
        throw new Failure(
          "usage",
          "--why is needed: the ledger keeps who owed a dead notification again, and why",
        );
      const actor = actorOf(command);
      return run(dryRun ? "reads" : "writes", async (context) => {
        const picked =
          ids.length > 0
            ? await pickByIds(context.ledger, ids)
            : await pickByFilter(context.ledger, { shipment, channel, reason, limit: most });
        return dryRun ? previewRows(picked) : redriveRows(context, picked, { actor, why: why ?? "" });
      });
    });
}
