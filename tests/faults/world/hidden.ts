import { ChangeMessageVisibilityBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { LocalSqs } from "../../../packages/local/src/sqs/index.ts";
import type { SkippedTime } from "./time.ts";

/** Seconds for which a queue hides a message that it has handed out, as `infra/` deploys them. */
const visibilityTimeout = 180;

type Queue = { name: string; url: string };

/**
 * The messages that consumers have received and neither deleted nor got back, and until when they stay hidden by the
 * time that the test lets pass. The queues themselves hide them for as long as a test may take.
 */
export class HiddenMessages {
  readonly #client: SQSClient;
  readonly #time: SkippedTime;
  readonly #hidden = new Map<string, { queue: Queue; until: number }>();
  readonly #shown = new Set<unknown>();

  constructor(client: SQSClient, time: SkippedTime) {
    this.#client = client;
    this.#time = time;
  }

  get count(): number {
    return this.#hidden.size;
  }

  /** Looks on while consumers receive, give back and delete. Once more after the faults have been cleared. */
  watch({ faults }: LocalSqs, queues: readonly Queue[]): void {
    const byName = new Map(queues.map((queue) => [queue.name, queue]));
    faults.observe(({ action, queueName, request, response }) => {
      const queue = byName.get(queueName);
      if (!queue) return;
      if (action === "ReceiveMessage")
        for (const message of objects(response.Messages)) this.#hide(queue, message);
      const entries = objects(request.Entries);
      const successful = new Set(objects(response.Successful).map((entry) => entry.Id));
      const done = entries.filter((entry) => successful.has(entry.Id));
      if (action === "DeleteMessageBatch")
        for (const entry of done) this.#hidden.delete(String(entry.ReceiptHandle));
      if (action === "ChangeMessageVisibilityBatch") for (const entry of done) this.#change(queue, entry);
    });
  }

  #hide(queue: Queue, { ReceiptHandle }: Record<string, unknown>): void {
    this.#hidden.set(String(ReceiptHandle), { queue, until: this.#time.now() + visibilityTimeout });
  }

  #change(queue: Queue, { ReceiptHandle, VisibilityTimeout }: Record<string, unknown>): void {
    // Those that are shown below come by as well.
    if (this.#shown.delete(ReceiptHandle)) return;
    const seconds = Number(VisibilityTimeout);
    if (seconds === 0) this.#hidden.delete(String(ReceiptHandle));
    else this.#hidden.set(String(ReceiptHandle), { queue, until: this.#time.now() + seconds });
  }

  /** Shows the messages whose time has come. Returns how many that were. */
  async show(): Promise<number> {
    const now = this.#time.now();
    const due = [...this.#hidden].filter(([, { until }]) => until <= now);
    for (const [url, of] of Map.groupBy(due, ([, { queue }]) => queue.url))
      for (let from = 0; from < of.length; from += 10) {
        const Entries = of.slice(from, from + 10).map(([ReceiptHandle], place) => {
          this.#shown.add(ReceiptHandle);
          this.#hidden.delete(ReceiptHandle);
          return { Id: String(place), ReceiptHandle, VisibilityTimeout: 0 };
        });
        await this.#client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
      }
    return due.length;
  }

  forget(): void {
    this.#hidden.clear();
    this.#shown.clear();
  }
}

const objects = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : []);
