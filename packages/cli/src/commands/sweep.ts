import type { Command } from "commander";
import { type Context, type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";
import type { Result } from "../output.ts";
import { duration } from "../text/time.ts";
import { plural } from "../text/words.ts";

/** Seconds, as the function's own timeout. */
const timeout = 60;

export function sweep(program: Command, run: Run): void {
  teach(program, "sweep", {
    summary: "sweep once, now",
    description:
      "Runs one sweep here and now, with the code of the scheduled one: takes what is owed and publishes it until nothing more is, or its budget ends. Does nothing while the sweeps are paused or another one is at work.",
    changes: "the ledger and the queue: what is owed is published to the notification queue.",
    examples: ["sweep", "sweep --json | jq .published"],
  }).action(() => run("writes", sweepOnce));
}

async function sweepOnce(context: Context): Promise<Result> {
  const sqs = await context.sqs();
  const settings = await context.settings();
  const { sweep: runSweep } = await import("@owed/functions/run-sweep");
  const { limitSources } = await import("@owed/functions/limits");
  const end = performance.now() + timeout * 1000;
  const summary = await runSweep({
    ledger: context.ledger,
    sqs,
    notificationQueueUrl: context.queue("notification").url,
    feedbackQueueUrl: context.queue("feedback").url,
    settings,
    limits: limitSources,
    remaining: () => (end - performance.now()) / 1000,
  });
  if (!summary.swept)
    throw new Failure(
      "not_allowed",
      summary.why === "paused"
        ? "the sweeps are paused: 'owed status' says by whom, 'owed resume' lets them run"
        : "another sweep is at work: it publishes what is owed, see 'owed status'",
    );
  const { leased, published, failed, unsure, cancelled, rescued, unknown, resent, held, lost, owed } =
    summary;
  const others = Object.entries({ failed, unsure, cancelled, rescued, unknown, resent, held, lost })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `, ${count} ${name}`);
  const lines = [
    `Swept in ${summary.duration.toFixed(1)} s: leased ${leased}, published ${published}${others.join("")}.`,
    owed === 0
      ? "Nothing more is owed now."
      : `${plural(owed, "notification")} still owed, the oldest for ${duration(summary.oldestOwedAge)}; ${drainedIn(summary.timeToDrain)}.`,
  ];
  if (summary.refusal)
    lines.push(`SQS refused some (${summary.refusal}); they are owed again within a minute.`);
  if (unsure > 0)
    lines.push("SQS did not answer for some: their leases run out, and a sweep sends them again.");
  return { json: summary, lines, exitCode: failed + unsure > 0 ? 1 : 0 };
}

const drainedIn = (seconds: number | null) =>
  seconds === null
    ? "nobody can say when they are sent, see 'owed status'"
    : `drained in about ${duration(seconds)}`;
