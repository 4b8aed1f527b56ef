import { SendMessageBatchCommand, type SQSClient, SQSServiceException } from "@aws-sdk/client-sqs";
import type { Leased } from "@owed/ledger";
import pLimit from "p-limit";
import { reached } from "../step.ts";
import { messageOf } from "./message.ts";
import { pack } from "./pack.ts";

export type Published = {
  /** SQS accepted these. */
  accepted: Leased[];
  /** SQS certainly has none of these; each is owed again after its own wait, in seconds. */
  released: (Leased & { wait: number })[];
  /** Of the released ones, those that SQS refused; the others were not tried. */
  failed: number;
  /** No answer came: in the queue or not, their leases run out, and the deduplication id does the rest. */
  unsure: number;
  /** Why the last refused call was refused, for the log. */
  refusal: string | null;
};

export type PublishOptions = {
  /** Who publishes, and tells its step; the sweep when not said. */
  stage?: "sweep" | "ingest";
  sqs: SQSClient;
  queueUrl: string;
  lanes: number;
  /**
   * Groups whose head did not get into the queue in this sweep, and the seconds after which it is owed again:
   * their later rows wait as long. Filled here, and kept by the sweep from slice to slice.
   */
  held: Map<string, number>;
  /** Seconds until an unanswered row's lease has run out. */
  lease: number;
  /** False once no time is left: nothing more is sent. */
  mayCall: () => boolean;
  random?: () => number;
};

/** What is on its way to the queue. */
export type Publishing = {
  /**
   * Resolves when all calls have begun and the queue has taken some of what they brought, or when all of them have
   * ended: who gives the next slice then keeps every lane busy. False when the queue has refused all of it.
   */
  begun: Promise<boolean>;
  done: Promise<Published>;
};

/**
 * Publishes slices in batches of ten, several at once, keeping each group's order within a slice and from slice to
 * slice. A row that SQS refuses, or does not answer for, holds back the later rows of its own group and nobody else.
 */
export class Publisher {
  readonly #options: PublishOptions;
  readonly #limit: ReturnType<typeof pLimit>;
  /** By group: the call that has its last row, while it is on its way. */
  readonly #flying = new Map<string, Promise<void>>();

  constructor(options: PublishOptions) {
    this.#options = options;
    this.#limit = pLimit(options.lanes);
  }

  publish(rows: readonly Leased[]): Publishing {
    const published: Published = { accepted: [], released: [], failed: 0, unsure: 0, refusal: null };
    const begun = Promise.withResolvers<boolean>();
    const batches = pack(rows);
    let waiting = batches.length;
    const look = () => {
      if (waiting === 0 && published.accepted.length > 0) begun.resolve(true);
    };
    const begin = async (batch: readonly Leased[]) => {
      waiting -= 1;
      look();
      await this.#send(batch, published);
      look();
    };
    const calls = batches.map((batch) => {
      const before = batch.flatMap((row) => this.#flying.get(row.group) ?? []);
      const call =
        before.length === 0
          ? this.#limit(begin, batch)
          : Promise.all(before).then(() => this.#limit(begin, batch));
      for (const { group } of batch) this.#flying.set(group, call);
      return call.then(() => this.#land(batch, call));
    });
    const done = Promise.all(calls).then(() => {
      begun.resolve(published.refusal === null || published.accepted.length > 0);
      return published;
    });
    return { begun: begun.promise, done };
  }

  #land(batch: readonly Leased[], call: Promise<void>): void {
    for (const { group } of batch) if (this.#flying.get(group) === call) this.#flying.delete(group);
  }

  async #send(batch: readonly Leased[], published: Published): Promise<void> {
    const { stage = "sweep", sqs, queueUrl, held, lease, mayCall, random = Math.random } = this.#options;
    const release = (row: Leased, wait: number) => published.released.push({ ...row, wait });
    const refused = (row: Leased, why: string) => {
      // Full jitter, so that what failed together does not come back together.
      const wait = 5 + random() * 55;
      held.set(row.group, wait);
      release(row, wait);
      published.failed += 1;
      published.refusal = why;
    };
    const unanswered = (row: Leased) => {
      held.set(row.group, lease);
      published.unsure += 1;
    };

    const free: Leased[] = [];
    for (const row of batch) {
      const wait = held.get(row.group);
      if (wait !== undefined) release(row, wait);
      else if (mayCall()) free.push(row);
      else release(row, 0);
    }
    if (free.length === 0) return;
    try {
      const { Successful = [], Failed = [] } = await sqs.send(
        new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: free.map(messageOf) }),
      );
      reached(`${stage}:published`);
      const accepted = new Set(Successful.map((entry) => entry.Id));
      const failed = new Map(Failed.map((entry) => [entry.Id, entry.Code ?? "no code"]));
      for (const [place, row] of free.entries()) {
        const why = failed.get(String(place));
        if (accepted.has(String(place))) published.accepted.push(row);
        else if (why !== undefined) refused(row, why);
        else unanswered(row);
      }
    } catch (error) {
      for (const row of free) {
        if (certainlyRefused(error)) refused(row, error.name);
        else unanswered(row);
      }
    }
  }
}

/** Publishes rows that nobody goes on from: see `Publisher`. */
export const publish = (rows: readonly Leased[], options: PublishOptions): Promise<Published> =>
  new Publisher(options).publish(rows).done;

/** The service answered with a client error: it took nothing. A server error or no answer says neither. */
const certainlyRefused = (error: unknown): error is SQSServiceException =>
  error instanceof SQSServiceException && (error.$metadata.httpStatusCode ?? 500) < 500;
