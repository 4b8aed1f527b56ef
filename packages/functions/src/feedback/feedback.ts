import {
  hearRecipients,
  keepRefusedEvent,
  type Ledger,
  LedgerUnavailable,
  type Proof,
  recordEvidence,
  type Weighed,
  type Word,
} from "@owed/ledger";
import type { SQSRecord } from "aws-lambda";
import { toError } from "../observe.ts";
import { acknowledge, type Disposal, failAfter, receiveCount, waitForLedger } from "../sqs-batch.ts";
import { reached } from "../step.ts";
import { parseFeedback } from "./event.ts";
import { inOrder } from "./order.ts";

export type FeedbackContext = { ledger: Ledger; onError: (message: string, error: unknown) => void };

/**
 * `bounced` and `complained`: the events that said so; `suppressed`: the addresses that they took out of use; `heard`:
 * recipients who stopped or started our messages.
 */
const nothing = {
  ...{ proven: 0, known: 0, gone: 0, ignored: 0, duplicate: 0 },
  ...{ bounced: 0, complained: 0, suppressed: 0, heard: 0 },
};

export type FeedbackResult = { disposals: Map<SQSRecord, Disposal>; counts: typeof nothing };

type Item = { record: SQSRecord; proof: Proof };
type Heard = { record: SQSRecord; word: Word };

/**
 * Weighs the provider's own events as evidence, those about one row one after the other. An event about a row that
 * is not in this ledger is tried again for some minutes, and then kept for a look: `owed refused`.
 */
export async function feedback(
  { ledger, onError }: FeedbackContext,
  records: readonly SQSRecord[],
): Promise<FeedbackResult> {
  reached("feedback:received");
  const disposals = new Map<SQSRecord, Disposal>();
  const counts = { ...nothing };
  const items: Item[] = [];
  const heard: Heard[] = [];
  for (const record of records) {
    const parsed = parseFeedback(record.body);
    if ("proof" in parsed) items.push({ record, proof: { ...parsed.proof, queuedAt: sentAt(record) } });
    else if ("heard" in parsed)
      heard.push({ record, word: { ...parsed.heard, at: sentAt(record) ?? Date.now() } });
    else {
      counts.ignored += 1;
      disposals.set(record, acknowledge);
      onError(`a provider event was ignored: ${parsed.ignored}`, record.messageId);
    }
  }
  const comeAgain = ({ record }: { record: SQSRecord }) =>
    disposals.set(record, failAfter(waitForLedger(receiveCount(record))));

  try {
    counts.heard = await hearRecipients(
      ledger,
      heard.map(({ word }) => word),
    );
    for (const { record } of heard) disposals.set(record, acknowledge);
    for (let rest = inOrder(items); rest.length > 0; ) {
      const round = firstOfEachRow(rest);
      rest = rest.filter((item) => !round.includes(item));
      const weighed = await weigh(ledger, round);
      reached("feedback:weighed");
      for (const [item, answer] of weighed) {
        if (answer instanceof Error) {
          onError("a provider event comes again: it could not be weighed", answer);
          comeAgain(item);
          continue;
        }
        counts[answer.result] += 1;
        if (answer.result === "gone") disposals.set(item.record, await keepForeign(ledger, item.record));
        else {
          const { outcome } = item.proof;
          if (outcome === "bounced" || outcome === "complained") counts[outcome] += 1;
          if (answer.duplicate) counts.duplicate += 1;
          if (answer.suppressed) counts.suppressed += 1;
          disposals.set(item.record, acknowledge);
        }
      }
    }
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    onError("provider events come again: the ledger does not answer", error);
    // At once, without a try for each: evidence must not stay hidden until this invocation times out.
    for (const item of [...heard, ...items]) if (!disposals.has(item.record)) comeAgain(item);
  }
  return { disposals, counts };
}

/** One proof a row: what a statement can weigh. */
const firstOfEachRow = (items: readonly Item[]): Item[] => [
  ...new Map(items.toReversed().map((item) => [item.proof.id, item])).values(),
];

/** In one statement; when it fails for another reason than an absent database, one by one: a bad event stops no other. */
async function weigh(ledger: Ledger, items: readonly Item[]): Promise<[Item, Weighed | Error][]> {
  try {
    const weighed = await recordEvidence(
      ledger,
      items.map(({ proof }) => proof),
    );
    const byId = new Map(weighed.map((answer) => [answer.id, answer]));
    return items.map((item) => [
      item,
      byId.get(item.proof.id) ?? new Error("the ledger did not answer for an event"),
    ]);
  } catch (error) {
    if (error instanceof LedgerUnavailable) throw error;
    if (items.length === 1) return items.map((item) => [item, toError(error)]);
    const answers: [Item, Weighed | Error][] = [];
    for (const item of items) answers.push(...(await weigh(ledger, [item])));
    return answers;
  }
}

/** Since when an event waits in the queue, in milliseconds since the epoch. */
const sentAt = (record: SQSRecord): number | null => Number(record.attributes.SentTimestamp) || null;

const looksForRow = 5;

async function keepForeign(ledger: Ledger, record: SQSRecord): Promise<Disposal> {
  const looks = receiveCount(record);
  if (looks < looksForRow) return failAfter(30 * looks);
  const refusal = { queue: "feedback", field: "notification", reason: "is not in this ledger" } as const;
  await keepRefusedEvent(ledger, { messageId: record.messageId, ...refusal, body: record.body });
  reached("feedback:kept");
  return acknowledge;
}
