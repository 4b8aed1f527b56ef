import { type Act, listDeadLettered, noteAct, noteRedrive, readMoot, type Said } from "@owed/ledger";
import type { Context } from "../command.ts";
import { countMessages, followMove, lookAtMove, type Move, startMove } from "../dlq/move.ts";
import { messageOf } from "../errors.ts";
import type { Result } from "../output.ts";
import type { QueueName } from "../services.ts";
import { mootText } from "../text/moot.ts";
import { plural } from "../text/words.ts";
import { counted } from "./counted.ts";

/** Rows that are looked at, and noted, at most. */
const most = 100_000;

type Tools = Pick<Context, "ledger" | "sqs" | "queue" | "progress">;
export type Asked = { wait: boolean; interval?: number };

const expired =
  "No message was there: dead notifications whose messages have expired come back with --all, or a filter.";

/**
 * SQS's own redrive of the whole notification dead-letter queue, as the AWS console starts it. SQS keeps neither who
 * nor why: the ledger notes both with each dead row whose message may be there, once SQS has started.
 */
export async function redriveNotifications(context: Tools, act: Act, asked: Asked): Promise<Result> {
  const { ids, at } = await listDeadLettered(context.ledger, most);
  const { arn } = context.queue("notification").deadLetters;
  await startMove(await context.sqs(), arn);
  const { noted, note } = await tell(() => noteRedrive(context.ledger, ids, { at, ...act }));
  const move = await look(context, arn, asked);
  const result = told(move, note, { queue: "notification", noted, ...act });
  if (move.status !== "COMPLETED" || move.moved > 0 || ids.length === 0) return result;
  return { ...result, lines: [...result.lines, expired] };
}

/** The messages are on their way: that this can't be noted must not read as if they were not. */
async function tell(write: () => Promise<number>): Promise<{ noted: number | null; note: string }> {
  const decides = "the ledger decides on each message again";
  try {
    const noted = await write();
    return {
      noted,
      note: `Noted with ${plural(noted, "dead notification")} who did this and why; ${decides}.`,
    };
  } catch (error) {
    return {
      noted: null,
      note: `Who did this and why could not be noted (${messageOf(error)}); ${decides}.`,
    };
  }
}

/** The same for the events that no consumer took in a thousand tries: no notification is behind them yet. */
export async function redriveEvents(
  context: Tools,
  queue: Exclude<QueueName, "notification">,
  said: Said,
  asked: Asked,
): Promise<Result> {
  const { arn } = context.queue(queue).deadLetters;
  await startMove(await context.sqs(), arn);
  const note = await noteAct(
    context.ledger,
    "redrove",
    `the dead-letter queue of the ${queue} queue`,
    said,
  ).then(
    () => "Noted in the ledger who did this; each event is recorded once, however often it comes.",
    (error: unknown) => `Who did this could not be noted (${messageOf(error)}).`,
  );
  return told(await look(context, arn, asked), note, { queue, ...said });
}

async function look(context: Tools, arn: string, { wait, interval = 1000 }: Asked): Promise<Move> {
  const sqs = await context.sqs();
  return wait
    ? followMove(sqs, arn, (move) => context.progress(`moved ${countOf(move)}`), interval)
    : lookAtMove(sqs, arn);
}

const countOf = ({ moved, toMove }: Move) => `${moved}${toMove === null ? "" : ` of ${toMove}`}`;

function told(move: Move, note: string, more: Record<string, unknown>): Result {
  const bad = move.status === "FAILED" || move.status === "CANCELLED";
  const failure = move.failure ? ` (${move.failure})` : "";
  return {
    json: { by: "queue", ...move, note, ...more },
    lines: [`SQS's redrive: ${move.status.toLowerCase()}, moved ${countOf(move)}${failure}.`, note],
    exitCode: bad ? 1 : 0,
  };
}

/** The ledger's dead rows that may have a message in the queue, and those of them that the workers would then cancel. */
export async function foreseeQueue({ ledger }: Pick<Tools, "ledger">): Promise<{
  ids: string[];
  moot: { reason: string; count: number }[];
}> {
  const { ids } = await listDeadLettered(ledger, most);
  const reasons = await readMoot(ledger, ids);
  return { ids, moot: counted([...reasons.values()]) };
}

/** What SQS's own redrive would move, without receiving a message: its count, and what the ledger foresees. */
export async function previewNotifications(context: Context): Promise<Result> {
  const { url } = context.queue("notification").deadLetters;
  const messages = await countMessages(await context.sqs(), url);
  const { ids, moot } = await foreseeQueue(context);
  return {
    json: { by: "queue", queue: "notification", dryRun: true, messages, ids, moot },
    lines: [
      `SQS's redrive would move about ${plural(messages, "message")}.`,
      `Dead notifications that may have one there: ${ids.length}`,
      ...ids,
      ...moot.map(({ reason, count }) => `  ${count} of them would be cancelled: ${mootText(reason)}`),
      "Nothing was changed.",
    ],
  };
}

export async function previewEvents(
  context: Context,
  queue: Exclude<QueueName, "notification">,
): Promise<Result> {
  const messages = await countMessages(await context.sqs(), context.queue(queue).deadLetters.url);
  return {
    json: { by: "queue", queue, dryRun: true, messages },
    lines: [`SQS's redrive would move about ${plural(messages, "message")}.`, "Nothing was changed."],
  };
}
