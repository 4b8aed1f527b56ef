import type { Ledger } from "@owed/ledger";

/** Ends what the queue has as if it were sent: claimed, and recorded as delivered. */
export async function deliverQueued(ledger: Ledger): Promise<void> {
  await ledger.run(
    (sql) => sql`
      UPDATE owed.notification SET state = 'sending', claimed_at = now(), message_id = id::text, lease_token = lease_token + 1,
        attempts = 1, sent_to = 'buyer@example.com', leased_until = now() + interval '60 s'
      WHERE state = 'queued'`,
    { repeatable: true },
  );
  await ledger.run(
    (sql) => sql`
      UPDATE owed.notification SET state = 'delivered', owed_at = NULL, delivered_at = clock_timestamp(), outcome = 'accepted',
        provider = 'ses', provider_message_id = id::text, evidence = 'reply'
      WHERE state = 'sending'`,
    { repeatable: true },
  );
}
