import { setTimeout as delay } from "node:timers/promises";
import {
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  type ListMessageMoveTasksCommandOutput,
  type SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { Failure } from "../errors.ts";

/** How far SQS's own redrive is. Its counts are approximate. */
export type Move = {
  status: "RUNNING" | "COMPLETED" | "CANCELLING" | "CANCELLED" | "FAILED";
  moved: number;
  /** How many there were when it started; null when SQS does not say. */
  toMove: number | null;
  failure: string | null;
};

/** Starts SQS's own redrive of a dead-letter queue to where its messages came from, as the console does. Throws `not_allowed` when one is running. */
export async function startMove(sqs: SQSClient, arn: string): Promise<void> {
  try {
    await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: arn }));
  } catch (error) {
    if (error instanceof Error && error.name.endsWith("UnsupportedOperation"))
      throw new Failure("not_allowed", `SQS does not start a redrive: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Looks at the latest redrive until it has ended, and reports each change. It goes on when nobody looks. */
export async function followMove(
  sqs: SQSClient,
  arn: string,
  report: (move: Move) => void,
  intervalMs = 1000,
): Promise<Move> {
  for (let before = -1; ; await delay(intervalMs)) {
    const move = await lookAtMove(sqs, arn);
    if (move.status !== "RUNNING" && move.status !== "CANCELLING") return move;
    if (move.moved !== before) report(move);
    before = move.moved;
  }
}

/** The latest redrive of the queue. */
export async function lookAtMove(sqs: SQSClient, arn: string): Promise<Move> {
  const latest = await latestTask(sqs, arn);
  if (!latest) throw new Failure("failed", "SQS started a redrive and does not know of it");
  return moveOf(latest);
}

/** The latest redrive of the queue and when it was started, as far as SQS still knows; null when it knows of none. */
export async function lastMove(
  sqs: SQSClient,
  arn: string,
): Promise<(Move & { startedAt: Date | null }) | null> {
  const latest = await latestTask(sqs, arn);
  if (!latest) return null;
  const { StartedTimestamp: started } = latest;
  return { ...moveOf(latest), startedAt: started === undefined ? null : new Date(started) };
}

type Task = NonNullable<ListMessageMoveTasksCommandOutput["Results"]>[number];

async function latestTask(sqs: SQSClient, arn: string): Promise<Task | undefined> {
  const command = new ListMessageMoveTasksCommand({ SourceArn: arn, MaxResults: 1 });
  return (await sqs.send(command)).Results?.[0];
}

const moveOf = (task: Task): Move => ({
  status: task.Status as Move["status"],
  moved: task.ApproximateNumberOfMessagesMoved ?? 0,
  toMove: task.ApproximateNumberOfMessagesToMove ?? null,
  failure: task.FailureReason ?? null,
});

/** How many messages a queue holds, about. */
export async function countMessages(sqs: SQSClient, url: string): Promise<number> {
  const { Attributes: counts = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
    }),
  );
  return (
    Number(counts.ApproximateNumberOfMessages ?? 0) +
    Number(counts.ApproximateNumberOfMessagesNotVisible ?? 0)
  );
}
