import type { SQSClient } from "@aws-sdk/client-sqs";
import { claim, defaultDurations as durations, type Ledger } from "@owed/ledger";
import { vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { parseSettings } from "../settings.ts";
import { createSqsClient } from "../sqs.ts";
import { type Summary, sweep } from "../sweep/sweep.ts";
import { startQueues, type TestQueues } from "./queues.ts";
import { empty } from "./rows.ts";

export type Swept = Extract<Summary, { swept: true }>;

export type Sweeping = {
  database: TestDatabase;
  cloud: TestQueues;
  /** The functions' own client. */
  sqs: SQSClient;
  /** One beat; `remaining` seconds of the function's time are left. */
  run(settings?: unknown, remaining?: number, ledger?: Ledger): Promise<Summary>;
  /** The same, when it must not be skipped. */
  swept(settings?: unknown, remaining?: number, ledger?: Ledger): Promise<Swept>;
  /** What the sweeps told beside their summaries. */
  onError: ReturnType<typeof vi.fn<(message: string, error: unknown) => void>>;
  /** A worker's claim of rows. */
  claim(rows: { id: string; generation: number }[]): ReturnType<typeof claim>;
  reset(): Promise<void>;
  stop(): Promise<void>;
};

/** A ledger and queues of a test's own, and sweeps between them by the functions' own client. */
export async function startSweeping(): Promise<Sweeping> {
  const [database, cloud] = await Promise.all([createDatabase(), startQueues()]);
  const client = createSqsClient(4);
  const onError = vi.fn<(message: string, error: unknown) => void>();
  const run: Sweeping["run"] = (settings = {}, remaining = 60, ledger = database.ledger) =>
    sweep({
      ledger,
      sqs: client,
      notificationQueueUrl: cloud.queues.notification.url,
      feedbackQueueUrl: cloud.queues.feedback.url,
      settings: parseSettings(settings),
      limits: new Map(),
      remaining: () => remaining,
      onError,
    });
  return {
    database,
    cloud,
    sqs: client,
    run,
    onError,
    async swept(...options) {
      const summary = await run(...options);
      if (!summary.swept) throw new Error(`the sweep was skipped: ${summary.why}`);
      return summary;
    },
    claim: (rows) =>
      claim(
        database.ledger,
        durations,
        rows.map(({ id, generation }) => ({ id, generation, messageId: "M-1", sentAt: Date.now() })),
      ),
    async reset() {
      cloud.sqs.faults.clear();
      onError.mockClear();
      await cloud.purge(cloud.queues.feedback.url);
      await cloud.purge(cloud.queues.notification.url);
      await empty(database);
    },
    async stop() {
      client.destroy();
      await Promise.all([database.drop(), cloud.stop()]);
    },
  };
}

type Entry = { MessageBody: string; MessageDeduplicationId: string };

/** The messages that the queue was given, in their order. */
export const entriesOf = (calls: { request: unknown }[]): Entry[] =>
  calls.flatMap(({ request }) => (request as { Entries: Entry[] }).Entries);

/** The ids of the rows that the queue was given, in their order. */
export const publishedIds = (calls: { request: unknown }[]): string[] =>
  entriesOf(calls).map(({ MessageBody }) => JSON.parse(MessageBody).id);
