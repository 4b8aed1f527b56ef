import type { Backend } from "./backend.ts";
import { listQueues, type QueueInfo } from "./dead-letters.ts";
import { invalidValue, missing, SqsError } from "./errors.ts";
import { integer, type Json, text } from "./json.ts";
import { MoveTask } from "./move-task.ts";
import { isFifo } from "./validate.ts";

/** SQS lists the ten latest tasks of a queue at most. */
const MAX_LISTED = 10;

/** StartMessageMoveTask, ListMessageMoveTasks, CancelMessageMoveTask: what the AWS console's redrive calls. */
export class MoveTasks {
  readonly #backend: Backend;
  /** The latest first. */
  #tasks: MoveTask[] = [];

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** @throws SqsError ResourceNotFoundException, InvalidParameterValue, UnsupportedOperation */
  async start(request: Json): Promise<Json> {
    const rate = integer(request, "MaxNumberOfMessagesPerSecond");
    if (rate !== undefined && (rate < 1 || rate > 500)) {
      throw invalidValue(
        `Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a value between 1 and 500.`,
      );
    }
    const queues = await listQueues(this.#backend);
    const source = find(queues, request, "SourceArn");
    const destination = destinationOf(queues, source, request);
    if (this.#of(source.arn).some(({ status }) => status === "RUNNING" || status === "CANCELLING")) {
      throw new SqsError(
        "UnsupportedOperation",
        "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
      );
    }
    const task = new MoveTask(this.#backend, source, destination, request, rate);
    this.#tasks = [task, ...this.#of(source.arn).slice(0, MAX_LISTED - 1), ...this.#others(source.arn)];
    return { TaskHandle: task.handle };
  }

  /** @throws SqsError ResourceNotFoundException */
  async list(request: Json): Promise<Json> {
    const source = find(await listQueues(this.#backend), request, "SourceArn");
    const limit = integer(request, "MaxResults") ?? 1;
    return {
      Results: this.#of(source.arn)
        .slice(0, limit)
        .map((task) => task.report()),
    };
  }

  /** @throws SqsError ResourceNotFoundException, UnsupportedOperation */
  cancel(request: Json): Json {
    const handle = text(request, "TaskHandle");
    if (handle === undefined) throw missing("TaskHandle");
    const task = this.#tasks.find((candidate) => candidate.handle === handle);
    if (!task) throw new SqsError("ResourceNotFoundException", "Task does not exist.", 404);
    if (task.status !== "RUNNING") {
      throw new SqsError("UnsupportedOperation", "Only active tasks can be cancelled.");
    }
    task.cancel();
    return { ApproximateNumberOfMessagesMoved: task.moved };
  }

  /** Cancels what runs and waits for its end. */
  async stop(): Promise<void> {
    for (const task of this.#tasks) task.cancel();
    await Promise.all(this.#tasks.map(({ ended }) => ended));
  }

  #of(arn: string): MoveTask[] {
    return this.#tasks.filter(({ source }) => source.arn === arn);
  }

  #others(arn: string): MoveTask[] {
    return this.#tasks.filter(({ source }) => source.arn !== arn);
  }
}

function find(queues: readonly QueueInfo[], request: Json, parameter: string): QueueInfo {
  const arn = text(request, parameter);
  if (arn === undefined) throw missing(parameter);
  const queue = queues.find((candidate) => candidate.arn === arn);
  if (queue) return queue;
  throw new SqsError(
    "ResourceNotFoundException",
    `The resource that you specified for the ${parameter} parameter doesn't exist.`,
    404,
  );
}

function destinationOf(queues: readonly QueueInfo[], source: QueueInfo, request: Json): QueueInfo {
  const origins = queues.filter(({ deadLetterArn }) => deadLetterArn === source.arn);
  const [origin] = origins;
  if (!origin) throw invalidValue("Source queue must be configured as a Dead Letter Queue.");
  if (request.DestinationArn === undefined || request.DestinationArn === null) {
    if (origins.length === 1) return origin;
    // SQS remembers where each message came from; fauxqs does not.
    throw invalidValue(
      `${origins.length} queues send their dead letters to ${source.arn}; here their messages cannot be told apart. Give DestinationArn.`,
    );
  }
  const destination = find(queues, request, "DestinationArn");
  if (destination.arn === source.arn) {
    throw invalidValue("Source queue arn and destination queue arn cannot be the same.");
  }
  if (isFifo(destination.arn) !== isFifo(source.arn)) {
    throw invalidValue("The source queue and destination queue must be of the same queue type.");
  }
  return destination;
}
