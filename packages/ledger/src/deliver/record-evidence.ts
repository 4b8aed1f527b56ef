import type { Ledger } from "../connect/ledger.ts";
import { inIdOrder } from "../in-id-order.ts";
import { weighArchived } from "../retain/weigh-archived.ts";
import type { Outcome } from "../states.ts";

/** The provider accepted: said by its late reply to a worker, or by its own event. */
export type Proof = {
  id: string;
  /** When the provider accepted, RFC 3339; null: now, by the database's clock. */
  at: string | null;
  provider: string;
  providerMessageId: string;
  outcome: Exclude<Outcome, "none">;
  /** What the provider says besides: short, begins with a code word, and holds no personal data. */
  detail: string | null;
  /** The address is not to be written to any more. */
  suppress: boolean;
  evidence: "reply" | "feedback";
  /** Since when the evidence waited to be weighed, in milliseconds since the epoch; null: it did not wait. */
  queuedAt: number | null;
};

export type Weighed = {
  id: string;
  /** `proven`: the row became delivered by this; `known`: it already was (or is cancelled); `gone`: there is no such row. */
  result: "proven" | "known" | "gone";
  /** The row was delivered as another provider message: the recipient got it twice. */
  duplicate: boolean;
  /** This evidence took the address out of use. */
  suppressed: boolean;
};

/**
 * Weighs evidence that the provider accepted (transitions 6 and 9): any unfinished or dead row becomes
 * delivered; in a delivered or cancelled one only the outcome moves, upwards, and a missing provider message id
 * is filled in. Another provider message for the same row is a duplicate and is counted once. A bounce or a
 * complaint suppresses the address that was written to. What is archived is weighed where it is. One proof a row.
 */
export async function recordEvidence(ledger: Ledger, proofs: readonly Proof[]): Promise<Weighed[]> {
  if (proofs.length === 0) return [];
  const inOrder = inIdOrder(proofs);
  // As text: the driver takes an array of booleans for a boolean.
  const suppress = inOrder.map((proof) => String(proof.suppress));
  const weighed = await ledger.run(
    (sql) => sql<Weighed[]>`
      WITH proof AS (
        SELECT * FROM unnest(
          ${inOrder.map((proof) => proof.id)}::uuid[],
          ${inOrder.map((proof) => proof.at)}::timestamptz[],
          ${inOrder.map((proof) => proof.provider)}::text[],
          ${inOrder.map((proof) => proof.providerMessageId)}::text[],
          ${inOrder.map((proof) => proof.outcome)}::text[],
          ${inOrder.map((proof) => proof.detail)}::text[],
          ${suppress}::bool[],
          ${inOrder.map((proof) => proof.evidence)}::text[],
          ${inOrder.map(({ queuedAt }) => (queuedAt === null ? null : new Date(queuedAt).toISOString()))}::timestamptz[]
        ) AS given (id, at, provider, provider_message_id, outcome, detail, suppress, evidence, queued_at)
      ), row AS MATERIALIZED (
        SELECT n.id, n.generation, n.channel, n.state, n.state IN ('delivered', 'cancelled') AS ended, n.delivered_at,
          n.cancelled_at, n.evidence, n.outcome, n.reason, n.provider_message_id,
          coalesce(n.sent_to, (SELECT address FROM owed.subscriber s WHERE s.id = n.subscriber_id)) AS address,
          n.state IN ('delivered', 'cancelled') AND n.provider_message_id <> proof.provider_message_id AS duplicate,
          -- Another message of this row may have gone to an address that was corrected since: its bounce says nothing.
          owed.rank(proof.outcome) > owed.rank(n.outcome)
            AND (proof.outcome <> 'bounced' OR coalesce(n.provider_message_id = proof.provider_message_id, true)) AS higher,
          n.state = 'delivered' AND coalesce(n.provider_message_id = proof.provider_message_id, true) AND owed.rank(proof.outcome) = owed.rank(n.outcome)
            AND coalesce(proof.detail <> n.reason, proof.detail IS NOT NULL) AS says_more
        FROM owed.notification n JOIN proof USING (id)
        ORDER BY n.id FOR UPDATE OF n
      ), moved AS (
        -- What is kept is kept from the locked row. Until the update itself has waited, n is the row as it was when
        -- the statement began, and the table's constraints look at the mixture.
        UPDATE owed.notification n SET
          state = CASE WHEN row.ended THEN row.state ELSE 'delivered' END,
          delivered_at = CASE WHEN row.ended THEN row.delivered_at ELSE least(proof.at, clock_timestamp()) END,
          cancelled_at = row.cancelled_at,
          evidence = CASE WHEN row.ended THEN row.evidence ELSE proof.evidence END,
          lease_token = n.lease_token + CASE WHEN row.ended THEN 0 ELSE 1 END,
          owed_at = NULL, died_at = NULL, stopped_at = NULL,
          reason = CASE WHEN row.state = 'cancelled' OR (row.ended AND NOT row.higher AND NOT row.says_more) THEN row.reason
            ELSE proof.detail END,
          outcome = CASE WHEN row.higher THEN proof.outcome ELSE row.outcome END,
          provider = coalesce(n.provider, proof.provider),
          provider_message_id = coalesce(row.provider_message_id, proof.provider_message_id)
        FROM row JOIN proof USING (id)
        WHERE n.id = row.id AND (NOT row.ended OR row.provider_message_id IS NULL OR row.higher OR row.says_more)
      ), told AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, provider_message_id, reason)
        SELECT row.id, 'duplicate', row.generation, proof.provider_message_id, 'the provider accepted it once more'
        FROM row JOIN proof USING (id) WHERE row.duplicate
        ON CONFLICT (notification_id, provider_message_id) WHERE kind = 'duplicate' DO NOTHING
      ), suppressed AS (
        INSERT INTO owed.suppression (channel, address, cause, detail, notification_id)
        SELECT row.channel, owed.suppression_key(row.channel, row.address), proof.outcome, proof.detail, row.id
        FROM row JOIN proof USING (id)
        WHERE proof.suppress AND row.address IS NOT NULL AND NOT (proof.outcome = 'bounced' AND coalesce(row.duplicate, false))
          -- Lifted since: what was sent before says nothing about the address now.
          AND NOT EXISTS (
            SELECT FROM owed.suppression x
            WHERE x.channel = row.channel AND x.address = ANY (owed.address_keys(row.address)) AND x.lifted_at >= least(proof.at, now()))
        -- In the addresses' order, so that two statements never wait for each other.
        ORDER BY 1, 2, row.id
        ON CONFLICT DO NOTHING
        RETURNING notification_id
      ), late AS (
        -- Once in ten seconds is enough: the row must not be what the consumers wait for.
        UPDATE owed.channel c SET evidence_late_at = now()
        WHERE coalesce(c.evidence_late_at < now() - interval '10 seconds', true) AND c.name IN (
          SELECT row.channel FROM row JOIN proof USING (id) WHERE proof.queued_at < now() - interval '1 minute')
      )
      SELECT proof.id, coalesce(row.duplicate, false) AS duplicate,
        proof.id IN (SELECT notification_id FROM suppressed) AS suppressed,
        CASE WHEN row.id IS NULL THEN 'gone' WHEN row.ended THEN 'known' ELSE 'proven' END AS result
      FROM proof LEFT JOIN row USING (id)`,
    { repeatable: true },
  );
  const gone = new Set(weighed.filter(({ result }) => result === "gone").map(({ id }) => id));
  const archived = await weighArchived(
    ledger,
    inOrder.filter(({ id }) => gone.has(id)),
  );
  const found = new Map(archived.map((answer) => [answer.id, answer]));
  return weighed.map((answer) => found.get(answer.id) ?? answer);
}
