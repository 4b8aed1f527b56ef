import { SendMessageBatchCommand, type SQSClient, SQSServiceException } from "@aws-sdk/client-sqs";
import type { Leased } from "@owed/ledger";
import pLimit from "p-limit";
import { reached } from "../step.ts";
import { messageOf } from "./message.ts";
import { type Batch, pack } from "./pack.ts";

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

/**
 * Publishes a slice in batches of ten, several at once, keeping each group's order. A row that SQS refuses, or
 * does not answer for, holds back the later rows of its own group and nobody else.
 */
export async function publish(rows: readonly Leased[], options: PublishOptions): Promise<Published> {
  const { stage = "sweep", sqs, queueUrl, held, mayCall, random = Math.random } = options;
  const limit = pLimit(options.lanes);
  const done: Published = { accepted: [], released: [], failed: 0, unsure: 0, refusal: null };
  const release = (row: Leased, wait: number) => done.released.push({ ...row, wait });
  const refused = (row: Leased, why: string) => {
    // Full jitter, so that what failed together does not come back together.
    const wait = 5 + random() * 55;
    held.set(row.group, wait);
    release(row, wait);
    done.failed += 1;
    done.refusal = why;
  };
  const unanswered = (row: Leased) => {
    held.set(row.group, options.lease);
    done.unsure += 1;
  };

  const send = async (batch: Batch): Promise<void> => {
    const free: Leased[] = [];
    for (const row of batch.rows) {
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
        if (accepted.has(String(place))) done.accepted.push(row);
        else if (why !== undefined) refused(row, why);
        else unanswered(row);
      }
    } catch (error) {
      for (const row of free) {
        if (certainlyRefused(error)) refused(row, error.name);
        else unanswered(row);
      }
    }
  };

  const sent = new Map<Batch, Promise<void>>();
  for (const batch of pack(rows)) {
    const before = batch.after.map((earlier) => sent.get(earlier));
    sent.set(
      batch,
      before.length === 0
        ? limit(() => send(batch))
        : Promise.all(before).then(() => limit(() => send(batch))),
    );
  }
  await Promise.all(sent.values());
  return done;
}

/** The service answered with a client error: it took nothing. A server error or no answer says neither. */
const certainlyRefused = (error: unknown): error is SQSServiceException =>
  error instanceof SQSServiceException && (error.$metadata.httpStatusCode ?? 500) < 500;
