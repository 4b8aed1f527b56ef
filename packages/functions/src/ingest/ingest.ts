import {
  keepRefusedEvent,
  type Ledger,
  LedgerUnavailable,
  type Recorded,
  recordEvents,
  type ShipmentEvent,
} from "@owed/ledger";
import type { SQSRecord } from "aws-lambda";
import { toError } from "../observe.ts";
import { acknowledge, type Disposal, failAfter, receiveCount, waitForLedger } from "../sqs-batch.ts";
import { reached } from "../step.ts";
import { parseEvent, type Refusal } from "./event.ts";
import { type PublishedOwn, type PublishOwn, publishOwn } from "./publish-own.ts";

export type Ingest = PublishOwn;

export type Ingestion = {
  disposals: Map<SQSRecord, Disposal>;
  counts: {
    recorded: number;
    repeated: number;
    refused: number;
    notifications: number;
    postponed: number;
  } & PublishedOwn;
};

/** Seconds that an event which overtook its shipment's registration is tried again. */
const registeredWithin = 15 * 60;

/** Soon, then ever more seldom: a flood of them must not fill what the queue may have in flight. */
const waitForShipment = (receives: number) => Math.min(30 * 2 ** (receives - 1), 240);

/**
 * Records a batch of shipment events with their fan-out. An invalid one is refused with the field and the
 * reason, kept for a look, and acknowledged; its neighbours are recorded. Nothing is acknowledged before the
 * ledger has it. What the new ones owe at once is published last: that changes nothing for them.
 */
export async function ingest(context: Ingest, records: readonly SQSRecord[]): Promise<Ingestion> {
  const { ledger, remaining, onError } = context;
  reached("ingest:received");
  const disposals = new Map<SQSRecord, Disposal>();
  const counts = {
    recorded: 0,
    repeated: 0,
    refused: 0,
    notifications: 0,
    postponed: 0,
    published: 0,
    failed: 0,
  };
  const owing: string[] = [];
  const postpone = (
    record: SQSRecord,
    message: string,
    error: unknown,
    wait = waitForLedger(receiveCount(record)),
  ) => {
    onError(message, error);
    counts.postponed += 1;
    disposals.set(record, failAfter(wait));
  };

  const valid: { record: SQSRecord; event: ShipmentEvent }[] = [];
  const refused: { record: SQSRecord; refusal: Refusal }[] = [];
  for (const record of records) {
    const event = parseEvent(record.body);
    if ("reason" in event) refused.push({ record, refusal: event });
    else valid.push({ record, event });
  }

  for (const [place, answer] of (
    await recordAll(
      ledger,
      valid.map(({ event }) => event),
      remaining,
    )
  ).entries()) {
    const { record, event } = valid[place] ?? {};
    if (!record || !event) throw new Error("the ledger answered for more events than it was given");
    if (answer instanceof Error) postpone(record, "an event comes again: it could not be recorded", answer);
    else if (answer.outcome !== "refused") {
      disposals.set(record, acknowledge);
      counts[answer.outcome] += 1;
      if (answer.outcome !== "recorded") continue;
      counts.notifications += answer.notifications;
      if (answer.notifications > 0) owing.push(event.id);
    } else if (answer.field === "shipment_id" && age(record) < registeredWithin) {
      const error = new Error(answer.reason);
      postpone(
        record,
        "an event comes again: its shipment is not known yet",
        error,
        waitForShipment(receiveCount(record)),
      );
    } else refused.push({ record, refusal: { field: answer.field, reason: answer.reason } });
  }

  reached("ingest:recorded");
  for (const { record, refusal } of refused) {
    try {
      const { messageId, body } = record;
      await keepRefusedEvent(ledger, { messageId, queue: "event", ...refusal, body });
      reached("ingest:kept");
      counts.refused += 1;
      disposals.set(record, acknowledge);
    } catch (error) {
      postpone(record, "a refused event comes again: it could not be kept", error);
    }
  }
  Object.assign(counts, await publishOwn(context, owing));
  return { disposals, counts };
}

/** Seconds that an event alone may take: the ledger's deadline, and a little. */
const forOne = 12;

/**
 * In one statement; when that fails for another reason than an absent database, one by one while there is time,
 * so that one bad event stops no other.
 */
async function recordAll(
  ledger: Ledger,
  events: readonly ShipmentEvent[],
  remaining: () => number,
): Promise<(Recorded | Error)[]> {
  try {
    return await recordEvents(ledger, events);
  } catch (error) {
    if (isAway(error) || events.length === 1) return events.map(() => toError(error));
    const answers: (Recorded | Error)[] = [];
    for (const event of events) {
      if (remaining() > forOne) answers.push(...(await recordAll(ledger, [event], remaining)));
      else answers.push(new Error("no time is left to record it alone"));
    }
    return answers;
  }
}

/** A statement that waited too long may have had one shipment in it that somebody keeps locked. */
const waitedTooLong = new Set<unknown>(["55P03", "57014"]);

const isAway = (error: unknown): boolean => {
  if (!(error instanceof LedgerUnavailable)) return false;
  const { cause } = error;
  return !(cause instanceof Error && "code" in cause && waitedTooLong.has(cause.code));
};

/** Seconds since the event came into the queue. */
const age = (record: SQSRecord): number => (Date.now() - Number(record.attributes.SentTimestamp)) / 1000;
