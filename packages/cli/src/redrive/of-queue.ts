import { listStopped } from "@owed/ledger";
import type { Context } from "../command.ts";
import { countMessages, followMove, lookAtMove, startMove } from "../dlq/move.ts";
import type { Result } from "../output.ts";
import { plural } from "../text/words.ts";

const note =
  "SQS's own redrive keeps neither who nor why: the ledger notes that these rows came back from the dead-letter queue.";

/** SQS's own redrive of the whole dead-letter queue, as the AWS console starts it. */
export async function redriveQueue(
  context: Context,
  { wait, interval = 1000 }: { wait: boolean; interval?: number },
): Promise<Result> {
  const { sqs, deadLetters } = await context.queues();
  await startMove(sqs, deadLetters.arn);
  const count = (moved: number, toMove: number | null) => `${moved}${toMove === null ? "" : ` of ${toMove}`}`;
  const move = wait
    ? await followMove(
        sqs,
        deadLetters.arn,
        ({ moved, toMove }) => context.progress(`moved ${count(moved, toMove)}`),
        interval,
      )
    : await lookAtMove(sqs, deadLetters.arn);
  const bad = move.status === "FAILED" || move.status === "CANCELLED";
  const line = `SQS's redrive: ${move.status.toLowerCase()}, moved ${count(move.moved, move.toMove)}${move.failure ? ` (${move.failure})` : ""}.`;
  return { json: { by: "queue", ...move, note }, lines: [line, note], exitCode: bad ? 1 : 0 };
}

/** What SQS's own redrive would move, without receiving a message: its count, and the ledger's dead rows that had one. */
export async function previewQueue(context: Context, limit: number): Promise<Result> {
  const { sqs, deadLetters } = await context.queues();
  const messages = await countMessages(sqs, deadLetters.url);
  const dead = await listStopped(context.ledger, { state: "dead", limit });
  // Who never was with a worker has no message in the dead-letter queue.
  const ids = dead.filter((row) => row.attempts > 0).map((row) => row.id);
  return {
    json: { by: "queue", dryRun: true, messages, ids },
    lines: [
      `SQS's redrive would move about ${plural(messages, "message")}.`,
      `Dead notifications that a worker tried: ${ids.length}`,
      ...ids,
      "Nothing was changed.",
    ],
  };
}
