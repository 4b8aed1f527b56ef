import { randomUUID } from "node:crypto";
import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { entryOf } from "./entry.ts";
import type { StubQueue } from "./start-stub-queue.ts";

const batchSize = 10;

/** What the SDK publishes with no ledger beside it: full batches, as many at once as the sweep has lanes. Returns the rows. */
export async function publishAlone({ sqs, url }: StubQueue, rows: number, lanes: number): Promise<number> {
  let left = rows;
  const lane = async () => {
    while (left > 0) {
      const size = Math.min(batchSize, left);
      left -= size;
      const Entries = Array.from({ length: size }, (_, place) => ({
        Id: String(place),
        ...entryOf({ id: randomUUID(), generation: 0, group: String(left + place) }),
      }));
      const { Successful = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
      if (Successful.length !== size) throw new Error(`the queue took ${Successful.length} of ${size}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return rows;
}
