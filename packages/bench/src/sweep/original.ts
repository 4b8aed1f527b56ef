import { SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Ledger } from "@owed/ledger";
import { entryOf, type Row } from "./entry.ts";
import type { StubQueue } from "./start-stub-queue.ts";

/** Rows that the loop leases at a time. */
const slice = 500;

/**
 * The loop that most outboxes begin with, on the same table, by the same driver and the same client: leases a slice, and
 * then for each row one SendMessage and one UPDATE, one after the other. Returns how many rows it published.
 */
export async function originalLoop(ledger: Ledger, { sqs, url }: StubQueue): Promise<number> {
  let published = 0;
  for (let rows = await leaseSlice(ledger); rows.length > 0; rows = await leaseSlice(ledger)) {
    for (const row of rows) {
      await sqs.send(new SendMessageCommand({ QueueUrl: url, ...entryOf(row) }));
      await markOne(ledger, row.id);
    }
    published += rows.length;
  }
  return published;
}

const leaseSlice = (ledger: Ledger): Promise<Row[]> =>
  ledger.run(
    (sql) => sql<Row[]>`
      UPDATE owed.notification SET
        state = 'leased', lease_token = lease_token + 1,
        leased_until = now() + interval '120 s', owed_at = now() + interval '120 s'
      WHERE id IN (
        SELECT id FROM owed.notification WHERE state IN ('pending', 'leased') AND owed_at <= now()
        ORDER BY owed_at LIMIT ${slice} FOR UPDATE SKIP LOCKED)
      RETURNING id, generation, subscriber_id AS group`,
    { repeatable: false },
  );

const markOne = (ledger: Ledger, id: string): Promise<unknown> =>
  ledger.run(
    (sql) => sql`
      UPDATE owed.notification SET state = 'queued', queued_at = now(), owed_at = now() + interval '20 min'
      WHERE id = ${id} AND state = 'leased'`,
    { repeatable: true },
  );
