import type { Ledger } from "../connect/ledger.ts";

/**
 * Has the next sweeps look at every queued row at once instead of when it has been queued for long: for a queue
 * that is known to have lost its messages. They are published again only if the queue then proves empty. Returns
 * how many rows there are.
 */
export async function lookAtQueued(ledger: Ledger): Promise<number> {
  const looked = await ledger.run(
    (sql) => sql`UPDATE owed.notification SET owed_at = now() WHERE owed_at > now() AND state = 'queued'`,
    { repeatable: true },
  );
  return looked.count;
}
