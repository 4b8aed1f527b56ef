import { SendMessageBatchCommand, type SQSClient, SQSServiceException } from "@aws-sdk/client-sqs";
import type { Leased } from "@owed/ledger";
import pLimit from "p-limit";
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
  sqs: SQSClient;
  queueUrl: string;
  lanes: number;
  /** False once the sweep's budget has ended: nothing more is sent. */
  mayCall: () => boolean;
  random?: () => number;
};

/**
 * Publishes a slice in batches of ten, several at once, keeping each group's order. A row that SQS refuses
 * holds back the later rows of its own group and nobody else.
 */
export async function publish(rows: readonly Leased[], options: PublishOptions): Promise<Published> {
  const { sqs, queueUrl, mayCall, random = Math.random } = options;
  const limit = pLimit(options.lanes);
  const held = new Set<string>();
  const done: Published = { accepted: [], released: [], failed: 0, unsure: 0, refusal: null };
  // Full jitter, so that what failed together does not come back together.
  const wait = () => 5 + random() * 55;
  const fail = (row: Leased) => {
    held.add(row.group);
    done.released.push({ ...row, wait: wait() });
    done.failed += 1;
  };

  const send = async (batch: Batch): Promise<void> => {
    const free = batch.rows.filter((row) => !held.has(row.group));
    for (const row of batch.rows) if (held.has(row.group)) done.released.push({ ...row, wait: wait() });
    if (free.length === 0) return;
    if (!mayCall()) {
      for (const row of free) done.released.push({ ...row, wait: 0 });
      return;
    }
    try {
      const answer = await sqs.send(
        new SendMessageBatchCommand({
          QueueUrl: queueUrl,
          Entries: free.map((row, place) => messageOf(row, place)),
        }),
      );
      const accepted = new Set(answer.Successful?.map((entry) => entry.Id));
      const failed = new Map(answer.Failed?.map((entry) => [entry.Id, entry.Code]));
      for (const [place, row] of free.entries()) {
        if (accepted.has(String(place))) done.accepted.push(row);
        else if (failed.has(String(place))) {
          done.refusal = failed.get(String(place)) ?? "no code";
          fail(row);
        } else {
          held.add(row.group);
          done.unsure += 1;
        }
      }
    } catch (error) {
      if (!certainlyRefused(error)) {
        for (const row of free) held.add(row.group);
        done.unsure += free.length;
        return;
      }
      done.refusal = error instanceof Error ? error.name : String(error);
      for (const row of free) fail(row);
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
const certainlyRefused = (error: unknown): boolean =>
  error instanceof SQSServiceException && (error.$metadata.httpStatusCode ?? 500) < 500;
