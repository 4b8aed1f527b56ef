import { randomUUID } from "node:crypto";
import { parseSettings } from "@owed/functions/parse-settings";
import { deliver } from "@owed/functions/run-deliver";
import {
  claim,
  defaultDurations,
  type Leased,
  Ledger,
  type LedgerOptions,
  lease,
  markQueued,
  record,
} from "@owed/ledger";
import { accepted, warmWorker } from "../database/warm.ts";

type Channel = Parameters<typeof deliver>[0]["channels"] extends ReadonlyMap<string, infer C> ? C : never;
type SqsRecord = Parameters<typeof deliver>[1][number];

/** A message in the queue, as Lambda hands it over, and the row that it is of. */
export type Received = { row: Leased; record: SqsRecord };

/** Works on a batch with its worker's ledger; returns how many of it were delivered. */
export type Work = (ledger: Ledger, batch: readonly Received[]) => Promise<number>;

const settings = parseSettings({});
/** A provider that accepts at once. */
const email: Channel = {
  name: "email",
  async send() {
    const { kind: outcome, ...named } = accepted();
    return { outcome, ...named };
  },
};

/** The shipped function, with a provider that accepts at once. */
export const together: Work = async (ledger, batch) => {
  const { disposals, counts } = await deliver(
    {
      ledger,
      channels: new Map([[email.name, email]]),
      settings,
      // The channel has no rate.
      pace: { take: async () => true },
      remaining: () => 30,
      onError: (message, error) => {
        throw new Error(message, { cause: error });
      },
    },
    batch.map(({ record }) => record),
  );
  const failed = [...disposals.values()].filter((disposal) => !disposal.acknowledge).length;
  return (counts.accepted ?? 0) - (counts.fenced ?? 0) - failed;
};

/** A statement a row: each message is claimed, sent and recorded by itself. */
export const rowByRow: Work = async (ledger, batch) => {
  let delivered = 0;
  for (const { row, record: received } of batch) {
    const { id, generation } = row;
    const sentAt = Number(received.attributes.SentTimestamp);
    const message = { id, generation, messageId: received.messageId, sentAt };
    const [verdict] = await claim(ledger, defaultDurations, [message]);
    if (verdict?.verdict !== "claimed") continue;
    const fenced = await record(ledger, defaultDurations, [
      { id, token: verdict.token, outcome: accepted() },
    ]);
    delivered += 1 - fenced.size;
  }
  return delivered;
};

/** Gives the messages to so many workers at once, ten at a time. Returns how many were delivered, in how many seconds. */
export async function workOff(
  options: LedgerOptions,
  received: readonly Received[],
  { atOnce, work }: { atOnce: number; work: Work },
): Promise<{ rows: number; seconds: number }> {
  const ledgers = Array.from({ length: atOnce }, () => new Ledger(options));
  try {
    await Promise.all(ledgers.map(warmWorker));
    let next = 0;
    const start = performance.now();
    const delivered = await Promise.all(
      ledgers.map(async (ledger) => {
        let rows = 0;
        while (next < received.length) {
          const batch = received.slice(next, next + 10);
          next += 10;
          rows += await work(ledger, batch);
        }
        return rows;
      }),
    );
    const seconds = (performance.now() - start) / 1000;
    return { rows: delivered.reduce((sum, rows) => sum + rows, 0), seconds };
  } finally {
    await Promise.all(ledgers.map((ledger) => ledger.close()));
  }
}

/** Leases and marks so many rows as a sweep does, and returns their messages as Lambda hands them over. */
export async function receive(options: LedgerOptions, rows: number): Promise<Received[]> {
  const ledger = new Ledger(options);
  try {
    const received: Received[] = [];
    while (received.length < rows) {
      const shares = [{ channel: "email", most: Math.min(1000, rows - received.length) }];
      const { leased } = await lease(ledger, defaultDurations, { shares, watermark: null, fresh: null });
      if (leased.length === 0) throw new Error(`only ${received.length} of ${rows} notifications are due`);
      await markQueued(ledger, defaultDurations, leased);
      received.push(...leased.map((row) => ({ row, record: recordOf(row) })));
    }
    return received;
  } finally {
    await ledger.close();
  }
}

const recordOf = ({ id, generation, group }: Leased): SqsRecord => ({
  messageId: randomUUID(),
  receiptHandle: randomUUID(),
  body: JSON.stringify({ id, generation }),
  attributes: {
    ApproximateReceiveCount: "1",
    SentTimestamp: String(Date.now()),
    ApproximateFirstReceiveTimestamp: String(Date.now()),
    SenderId: "AIDAIENQZJOLO23YVJ4VO",
    MessageGroupId: `subscriber-${group}`,
    MessageDeduplicationId: `shipment-notif-${id}`,
    SequenceNumber: "18849496460467696128",
  },
  messageAttributes: {},
  md5OfBody: "0".repeat(32),
  eventSource: "aws:sqs",
  eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:notification.fifo",
  awsRegion: "us-east-1",
});
