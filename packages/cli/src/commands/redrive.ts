import { type Command, Option } from "commander";
import { actorOf, limit, notificationIds, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";
import {
  previewEvents,
  previewNotifications,
  redriveEvents,
  redriveNotifications,
} from "../redrive/of-queue.ts";
import { previewRows, redriveRows } from "../redrive/of-rows.ts";
import { pickByFilter, pickByIds } from "../redrive/pick.ts";
import { type QueueName, queueNames } from "../services.ts";

type Options = {
  shipment?: string;
  channel?: string;
  reason?: string;
  all?: true;
  queue: QueueName;
  limit: number;
  dryRun?: true;
  why?: string;
  wait: boolean;
};

export function redrive(program: Command, run: Run): void {
  teach(program, "redrive", {
    summary: "owe dead notifications again: some, all, or the whole dead-letter queue",
    description: `Gives dead notifications another try.
With ids, a filter or --all: the ledger owes these again, if they are still true, and keeps who did it and why; their messages are removed from the dead-letter queue. This works when the messages have long expired there. Rows that never had a message there (no_address, lost) come back in this way only.
Without: starts SQS's own redrive of the dead-letter queue, as the AWS console does, notes who did it and why, and waits for its end. The ledger decides on each message again: what is delivered or no longer wanted is not sent.
With --queue event or --queue feedback: the same for events that could not be taken while the ledger was away.`,
    changes: "the ledger and the dead-letter queue; with --dry-run nothing.",
    examples: [
      "redrive --dry-run --reason ServiceUnavailable",
      'redrive --reason ServiceUnavailable --why "the provider is back"',
      'redrive 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001 --why "address corrected"',
      'redrive --why "the provider is back"',
      "redrive --queue event",
    ],
  })
    .argument("[notification...]", "their ids", notificationIds)
    .option("--shipment <id>", "dead ones of one shipment", text)
    .option("--channel <channel>", "dead ones of one channel, such as email", text)
    .option("--reason <start>", "dead ones whose reason starts so, such as ServiceUnavailable", text)
    .option("--all", "all dead ones, by way of the ledger")
    .option("--limit <n>", "at most so many, by way of the ledger", limit(100_000), 10_000)
    .addOption(
      new Option("--queue <queue>", "whose dead-letter queue SQS moves")
        .choices(queueNames)
        .default("notification"),
    )
    .option("--dry-run", "say how many and which, and change nothing")
    .option("--why <text>", "why, for the record; needed for notifications", text)
    .option("--no-wait", "do not wait for the end of SQS's own redrive")
    .action((ids: string[] | undefined = [], options: Options, command: Command) => {
      const { shipment, channel, reason, all, queue, limit: most, dryRun, why } = options;
      const filtered = [shipment, channel, reason].some((value) => value !== undefined);
      const ways = [ids.length > 0, filtered, all === true].filter(Boolean).length;
      if (ways > 1) throw new Failure("usage", "give notifications, or a filter, or --all: one of the three");
      const kind = dryRun ? "reads" : "writes";
      if (queue !== "notification") {
        if (ways > 0)
          throw new Failure("usage", `--queue ${queue} moves the whole queue: it takes no filter`);
        return run(kind, (context) =>
          dryRun
            ? previewEvents(context, queue)
            : redriveEvents(context, queue, { actor: actorOf(command), why: why ?? null }, options),
        );
      }
      if (!dryRun && why === undefined)
        throw new Failure(
          "usage",
          "--why is needed: the ledger keeps who owed a dead notification again, and why",
        );
      const act = { actor: actorOf(command), why: why ?? "" };
      if (ways === 0)
        return run(kind, (context) =>
          dryRun ? previewNotifications(context) : redriveNotifications(context, act, options),
        );
      return run(kind, async (context) => {
        const picked =
          ids.length > 0
            ? await pickByIds(context.ledger, ids)
            : await pickByFilter(context.ledger, { shipment, channel, reason, limit: most });
        return dryRun ? previewRows(context, picked) : redriveRows(context, picked, act);
      });
    });
}
