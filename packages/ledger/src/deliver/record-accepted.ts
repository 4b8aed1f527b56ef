import type { Ledger } from "../connect/ledger.ts";
import { inIdOrder } from "../in-id-order.ts";
import type { Accepted } from "./record.ts";

/** Records acceptances (transition 5), each fenced by its token. Returns the ids of the rows that are delivered by this. */
export async function recordAccepted(ledger: Ledger, results: readonly Accepted[]): Promise<Set<string>> {
  if (results.length === 0) return new Set();
  const inOrder = inIdOrder(results);
  const rows = await ledger.run(
    (sql) => sql<{ id: string }[]>`
      UPDATE owed.notification n SET
        state = 'delivered', owed_at = NULL, delivered_at = clock_timestamp(), outcome = 'accepted', evidence = 'reply', reason = NULL,
        provider = accepted.provider, provider_message_id = accepted.provider_message_id
      FROM unnest(
        ${inOrder.map((result) => result.id)}::uuid[],
        ${inOrder.map((result) => result.token)}::int[],
        ${inOrder.map((result) => result.outcome.provider)}::text[],
        ${inOrder.map((result) => result.outcome.providerMessageId)}::text[]
      ) AS accepted (id, token, provider, provider_message_id)
      WHERE n.id = accepted.id AND n.lease_token = accepted.token AND n.state = 'sending'
      RETURNING n.id`,
    // Run again after a lost answer it delivers nothing, and the look at what it left finds them delivered.
    { repeatable: true },
  );
  return new Set(rows.map(({ id }) => id));
}
