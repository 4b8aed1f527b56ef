import { keepRefusedEvent, type Ledger, LedgerUnavailable, type Proof, recordEvidence } from "@owed/ledger";
import type { SQSRecord } from "aws-lambda";
import { acknowledge, type Disposal, failAfter, receiveCount, waitForLedger } from "../sqs-batch.ts";
import { parseFeedback } from "./event.ts";

export type FeedbackContext = { ledger: Ledger; onError: (message: string, error: unknown) => void };

export type FeedbackResult = {
  disposals: Map<SQSRecord, Disposal>;
  counts: { proven: number; known: number; gone: number; ignored: number; duplicate: number };
};

/**
 * Weighs the provider's own events as evidence. Of several about one row and one provider message the strongest
 * counts. An event about a row that is not in this ledger is tried again for some minutes, and then kept for a
 * look: `owed refused`.
 */
export async function feedback(
  { ledger, onError }: FeedbackContext,
  records: readonly SQSRecord[],
): Promise<FeedbackResult> {
  const disposals = new Map<SQSRecord, Disposal>();
  const counts = { proven: 0, known: 0, gone: 0, ignored: 0, duplicate: 0 };
  const proofs: { record: SQSRecord; proof: Proof }[] = [];
  for (const record of records) {
    const parsed = parseFeedback(record.body);
    if ("proof" in parsed) proofs.push({ record, proof: parsed.proof });
    else {
      counts.ignored += 1;
      disposals.set(record, acknowledge);
      onError(`a provider event was ignored: ${parsed.ignored}`, record.messageId);
    }
  }
  // One proof a row in each statement: events about the same row are weighed one after the other.
  for (let rest = proofs; rest.length > 0; ) {
    const round = [...new Map(rest.toReversed().map((item) => [item.proof.id, item])).values()];
    rest = rest.filter((item) => !round.includes(item));
    try {
      const weighed = new Map(
        (
          await recordEvidence(
            ledger,
            round.map(({ proof }) => proof),
          )
        ).map((row) => [row.id, row]),
      );
      for (const { record, proof } of round) {
        const row = weighed.get(proof.id);
        counts[row?.result ?? "gone"] += 1;
        if (row?.duplicate) counts.duplicate += 1;
        if (row && row.result !== "gone") disposals.set(record, acknowledge);
        else disposals.set(record, await keepForeign(ledger, record));
      }
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      onError("provider events come again: the ledger does not answer", error);
      for (const { record } of round) disposals.set(record, failAfter(waitForLedger(receiveCount(record))));
    }
  }
  return { disposals, counts };
}

const looksForRow = 5;

async function keepForeign(ledger: Ledger, record: SQSRecord): Promise<Disposal> {
  const looks = receiveCount(record);
  if (looks < looksForRow) return failAfter(30 * looks);
  const refusal = { field: "notification", reason: "is not in this ledger" };
  await keepRefusedEvent(ledger, { messageId: record.messageId, ...refusal, body: record.body });
  return acknowledge;
}
