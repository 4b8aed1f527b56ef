import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type SendMessageBatchCommandInput, SQSClient } from "@aws-sdk/client-sqs";
import { parseSettings } from "@owed/functions/parse-settings";
import { sweep } from "@owed/functions/run-sweep";
import type { Step } from "@owed/functions/step";
import { Ledger } from "@owed/ledger";
import type { LedgerDatabase } from "../database/ledger-database.ts";

/** Seconds of a beat: taking the heartbeat, leasing and marking all that was due, giving the heartbeat back. */
export type Beat = { begin: number; lease: number; finish: number };

/**
 * One beat of the shipped sweep, which leases and marks the `rows` that are due in slices of 1,000. Its queue takes each
 * message at once, so that the ledger alone is measured.
 *
 * @throws when another number of rows was due
 */
export async function beat({ options }: Pick<LedgerDatabase, "options">, rows: number): Promise<Beat> {
  const ledger = new Ledger(options);
  const sqs = acceptingClient();
  const url = "https://sqs.example/notifications.fifo";
  const reached = new Map<unknown, number>();
  const note = (step: unknown) => void reached.set(step, performance.now());
  const at = (step: Extract<Step, `sweep:${string}`>) => reached.get(step) ?? Number.NaN;
  try {
    // Connected before anything is measured.
    await ledger.run((sql) => sql`SELECT`, { repeatable: true });
    subscribe("owed:step", note);
    const start = performance.now();
    const summary = await sweep({
      ...{ ledger, sqs, notificationQueueUrl: url, feedbackQueueUrl: url, limits: new Map() },
      ...{ settings: settingsFor(rows), remaining: () => 900 },
    });
    if (!summary.swept || summary.published !== rows || summary.fenced > 0)
      throw new Error(`the sweep did not publish ${rows} rows: ${JSON.stringify(summary)}`);
    const last = rows > 0 ? at("sweep:released") : at("sweep:looked");
    return {
      begin: (at("sweep:begun") - start) / 1000,
      lease: (last - at("sweep:looked")) / 1000,
      finish: (at("sweep:finished") - last) / 1000,
    };
  } finally {
    unsubscribe("owed:step", note);
    await ledger.close();
    sqs.destroy();
  }
}

/** The defaults; but all that is due goes out in one beat, and nothing to the archive. */
const settingsFor = (rows: number) =>
  parseSettings({ sweep: { queued: Math.max(rows, 50_000) }, retention: { days: null } });

/** The SDK's client, with an answer in place of all that it does with a command. */
function acceptingClient(): SQSClient {
  const client = new SQSClient({
    region: "us-east-1",
    credentials: { accessKeyId: "bench", secretAccessKey: "bench" },
  });
  client.middlewareStack.add(
    () =>
      async ({ input }) => {
        const { Entries = [] } = input as SendMessageBatchCommandInput;
        const Successful = Entries.map(({ Id }) => ({ Id, MessageId: Id, MD5OfMessageBody: undefined }));
        return { output: { $metadata: {}, Successful, Failed: [] }, response: {} };
      },
    { step: "initialize", priority: "high", name: "accepted" },
  );
  return client;
}
