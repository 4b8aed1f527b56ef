import type { Ledger } from "../connect/ledger.ts";
import type { Proof, Weighed } from "../deliver/record-evidence.ts";

/**
 * Weighs evidence about archived notifications: a complaint that comes months later takes the address out of use as
 * any other, and the row keeps it. Answers for those that the archive has.
 */
export async function weighArchived(ledger: Ledger, proofs: readonly Proof[]): Promise<Weighed[]> {
  if (proofs.length === 0) return [];
  // As text: the driver takes an array of booleans for a boolean.
  const suppress = proofs.map((proof) => String(proof.suppress));
  return ledger.run(
    (sql) => sql<Weighed[]>`
      SELECT id, duplicate, suppressed, result FROM owed.weigh_archived(
        ${proofs.map((proof) => proof.id)}::uuid[],
        ${proofs.map((proof) => proof.at)}::timestamptz[],
        ${proofs.map((proof) => proof.provider)}::text[],
        ${proofs.map((proof) => proof.providerMessageId)}::text[],
        ${proofs.map((proof) => proof.outcome)}::text[],
        ${proofs.map((proof) => proof.detail)}::text[],
        ${suppress}::bool[],
        ${proofs.map((proof) => proof.evidence)}::text[])`,
    { repeatable: true },
  );
}
