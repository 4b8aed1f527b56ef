import type { Ledger } from "../connect/ledger.ts";
import type { Evidence, Outcome } from "../states.ts";

/** The provider accepted: said by its late reply to a worker, or by its own event. */
export type Proof = {
  id: string;
  /** When the provider says so, RFC 3339; null: now, by the database's clock. */
  at: string | null;
  provider: string;
  providerMessageId: string;
  outcome: Exclude<Outcome, "none">;
  evidence: Exclude<Evidence, "operator">;
};

export type Weighed = {
  id: string;
  /** `proven`: the row became delivered by this; `known`: it already was (or is cancelled); `gone`: there is no such row. */
  result: "proven" | "known" | "gone";
  /** The row was delivered as another provider message: the recipient got it twice. */
  duplicate: boolean;
};

/**
 * Weighs evidence that the provider accepted (transitions 6 and 9): any unfinished or dead row becomes
 * delivered; in a delivered or cancelled one only the outcome moves, upwards, and a missing provider message id
 * is filled in. Another provider message for the same row is a duplicate and is counted once. One proof a row.
 */
export async function recordEvidence(ledger: Ledger, proofs: readonly Proof[]): Promise<Weighed[]> {
  if (proofs.length === 0) return [];
  const inOrder = proofs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return ledger.run(
    (sql) => sql<Weighed[]>`
      WITH proof AS (
        SELECT *, array_position(ARRAY['none', 'accepted', 'arrived', 'bounced', 'complained'], outcome) AS rank
        FROM unnest(
          ${inOrder.map((proof) => proof.id)}::uuid[],
          ${inOrder.map((proof) => proof.at)}::timestamptz[],
          ${inOrder.map((proof) => proof.provider)}::text[],
          ${inOrder.map((proof) => proof.providerMessageId)}::text[],
          ${inOrder.map((proof) => proof.outcome)}::text[],
          ${inOrder.map((proof) => proof.evidence)}::text[]
        ) AS given (id, at, provider, provider_message_id, outcome, evidence)
      ), row AS MATERIALIZED (
        SELECT n.id, n.generation, n.state, n.state IN ('delivered', 'cancelled') AS ended, n.delivered_at, n.cancelled_at,
          n.evidence, n.outcome, n.reason, n.provider_message_id,
          n.state IN ('delivered', 'cancelled') AND n.provider_message_id <> proof.provider_message_id AS duplicate
        FROM owed.notification n JOIN proof USING (id)
        ORDER BY n.id FOR UPDATE OF n
      ), moved AS (
        -- What is kept is kept from the locked row. Until the update itself has waited, n is the row as it was when
        -- the statement began, and the table's constraints look at the mixture.
        UPDATE owed.notification n SET
          state = CASE WHEN row.ended THEN row.state ELSE 'delivered' END,
          delivered_at = CASE WHEN row.ended THEN row.delivered_at ELSE coalesce(proof.at, clock_timestamp()) END,
          cancelled_at = row.cancelled_at,
          evidence = CASE WHEN row.ended THEN row.evidence ELSE proof.evidence END,
          lease_token = n.lease_token + CASE WHEN row.ended THEN 0 ELSE 1 END,
          owed_at = NULL, died_at = NULL, stopped_at = NULL,
          reason = CASE WHEN row.ended THEN row.reason END,
          outcome = CASE WHEN proof.rank > array_position(ARRAY['none', 'accepted', 'arrived', 'bounced', 'complained'], row.outcome)
            THEN proof.outcome ELSE row.outcome END,
          provider = coalesce(n.provider, proof.provider),
          provider_message_id = coalesce(row.provider_message_id, proof.provider_message_id)
        FROM row JOIN proof USING (id)
        WHERE n.id = row.id AND (NOT row.ended OR row.provider_message_id IS NULL
          OR proof.rank > array_position(ARRAY['none', 'accepted', 'arrived', 'bounced', 'complained'], row.outcome))
      ), told AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, provider_message_id, reason)
        SELECT row.id, 'duplicate', row.generation, proof.provider_message_id, 'the provider accepted it once more'
        FROM row JOIN proof USING (id) WHERE row.duplicate
        ON CONFLICT (notification_id, provider_message_id) WHERE kind = 'duplicate' DO NOTHING
      )
      SELECT proof.id, coalesce(row.duplicate, false) AS duplicate,
        CASE WHEN row.id IS NULL THEN 'gone' WHEN row.ended THEN 'known' ELSE 'proven' END AS result
      FROM proof LEFT JOIN row USING (id)`,
    { repeatable: true },
  );
}
