import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Backend } from "./backend.ts";
import type { QueueInfo } from "./dead-letters.ts";
import { isObject, type Json, objects, text } from "./json.ts";

export type MoveStatus = "RUNNING" | "COMPLETED" | "CANCELLING" | "CANCELLED" | "FAILED";

/** How long a message that is being moved is hidden from other receivers, in seconds. */
const VISIBILITY = 30;

/** One run of StartMessageMoveTask: receive, send, delete, until the dead letters of its start are moved. */
export class MoveTask {
  readonly handle: string;
  readonly source: QueueInfo;
  /** Settled when the task has ended, whatever its end. */
  readonly ended: Promise<void>;
  status: MoveStatus = "RUNNING";
  moved = 0;
  #failure: string | undefined;
  readonly #startedAt = Date.now();
  readonly #backend: Backend;
  readonly #destination: QueueInfo;
  readonly #request: Json;
  readonly #rate: number | undefined;
  readonly #cancel = new AbortController();

  constructor(backend: Backend, from: QueueInfo, to: QueueInfo, request: Json, rate: number | undefined) {
    this.#backend = backend;
    this.source = from;
    this.#destination = to;
    this.#request = request;
    this.#rate = rate;
    const key = { taskId: randomUUID(), sourceArn: from.arn };
    this.handle = Buffer.from(JSON.stringify(key)).toString("base64");
    this.ended = this.#run();
  }

  /** Ends the task after the messages that are in hand. */
  cancel(): void {
    if (this.status !== "RUNNING") return;
    this.status = "CANCELLING";
    this.#cancel.abort();
  }

  /** An entry of ListMessageMoveTasks; SQS shows the handle of a running task only. */
  report(): Json {
    const { DestinationArn, MaxNumberOfMessagesPerSecond } = this.#request;
    return {
      ...(this.status === "RUNNING" && { TaskHandle: this.handle }),
      Status: this.status,
      SourceArn: this.source.arn,
      ...(DestinationArn !== undefined && { DestinationArn }),
      ...(MaxNumberOfMessagesPerSecond !== undefined && { MaxNumberOfMessagesPerSecond }),
      ApproximateNumberOfMessagesMoved: this.moved,
      ApproximateNumberOfMessagesToMove: this.source.messages,
      ...(this.#failure && { FailureReason: this.#failure }),
      StartedTimestamp: this.#startedAt,
    };
  }

  async #run(): Promise<void> {
    try {
      // What dies again while the task runs belongs to the next one, or a poison message would go round.
      while (this.status === "RUNNING" && this.moved < this.source.messages) {
        const moved = await this.#moveSome(Math.min(10, this.#rate ?? 10, this.source.messages - this.moved));
        if (moved === 0) break;
        if (this.#rate) await this.#pause((moved / this.#rate) * 1000);
      }
      this.status = this.status === "RUNNING" ? "COMPLETED" : "CANCELLED";
    } catch (error) {
      this.status = "FAILED";
      this.#failure = error instanceof Error ? error.message : String(error);
    }
  }

  /** Moves up to `limit` messages and returns how many. */
  async #moveSome(limit: number): Promise<number> {
    const received = await this.#backend.ask("ReceiveMessage", {
      QueueUrl: this.source.url,
      MaxNumberOfMessages: limit,
      VisibilityTimeout: VISIBILITY,
      MessageSystemAttributeNames: ["MessageGroupId"],
      MessageAttributeNames: ["All"],
    });
    const messages = objects(received, "Messages");
    for (const message of messages) {
      await this.#send(message);
      await this.#backend.ask("DeleteMessage", {
        QueueUrl: this.source.url,
        ReceiptHandle: message.ReceiptHandle,
      });
      this.moved += 1;
    }
    return messages.length;
  }

  /** A new message with the old one's content. The old deduplication id would swallow it: it gets a new one. */
  async #send(message: Json): Promise<void> {
    const group = isObject(message.Attributes) ? text(message.Attributes, "MessageGroupId") : undefined;
    await this.#backend.ask("SendMessage", {
      QueueUrl: this.#destination.url,
      MessageBody: message.Body,
      MessageAttributes: message.MessageAttributes,
      ...(group !== undefined && { MessageGroupId: group, MessageDeduplicationId: randomUUID() }),
    });
  }

  async #pause(ms: number): Promise<void> {
    // The signal's abort is the wanted early end of the pause.
    await delay(ms, undefined, { signal: this.#cancel.signal }).catch(() => undefined);
  }
}
