import type { Ledger } from "../connect/ledger.ts";
import { inIdOrder } from "../in-id-order.ts";
import type { Leased } from "./lease.ts";

/**
 * Gives back leased rows that SQS certainly did not accept (transition 3); each is owed again after its own
 * wait, in seconds. Fenced by the token. Returns how many were released.
 */
export async function release(ledger: Ledger, rows: readonly (Leased & { wait: number })[]): Promise<number> {
  if (rows.length === 0) return 0;
  const inOrder = inIdOrder(rows);
  const released = await ledger.run(
    (sql) => sql`
      UPDATE owed.notification n SET state = 'pending', owed_at = now() + make_interval(secs => given.wait)
      FROM unnest(
        ${inOrder.map((row) => row.id)}::uuid[],
        ${inOrder.map((row) => row.token)}::int[],
        ${inOrder.map((row) => row.wait)}::float8[]
      ) AS given (id, token, wait)
      WHERE n.id = given.id AND n.lease_token = given.token AND n.state = 'leased'`,
    { repeatable: true },
  );
  return released.count;
}
