import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";
import { inIdOrder } from "../in-id-order.ts";
import type { Leased } from "./lease.ts";

/**
 * Marks leased rows as queued (transition 2), in bulk. Fenced: a row that a fast worker has claimed meanwhile,
 * or that another sweep has leased, is left as it is. Returns how many were marked; run again after a lost
 * answer it counts the same rows.
 */
export async function markQueued(
  ledger: Ledger,
  durations: Durations,
  rows: readonly Leased[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const inOrder = inIdOrder(rows);
  const marked = await ledger.run(
    (sql) => sql`
      UPDATE owed.notification n SET
        state = 'queued', queued_at = now(), owed_at = now() + make_interval(secs => ${durations.lostAfter})
      FROM unnest(${inOrder.map((row) => row.id)}::uuid[], ${inOrder.map((row) => row.token)}::int[]) AS sent (id, token)
      WHERE n.id = sent.id AND n.lease_token = sent.token AND n.state IN ('leased', 'queued')`,
    { repeatable: true },
  );
  return marked.count;
}
