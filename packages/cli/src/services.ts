import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Settings } from "@owed/functions/settings";
import { Ledger } from "@owed/ledger";
import { configure } from "./configuration.ts";

/** The queues that a command works on. */
export type Queues = {
  sqs: SQSClient;
  notificationUrl: string;
  deadLetters: { url: string; arn: string };
};

/** What the commands work on. Nothing is connected before its first use. */
export type Services = {
  ledger: Ledger;
  /** Loads the AWS SDK, which most commands do without. */
  queues(): Promise<Queues>;
  /** What a sweep needs besides. */
  sweeping(): Promise<{ feedbackUrl: string; settings: Settings }>;
  /** What to try when nothing answers. */
  hint: string;
  close(): Promise<void>;
};

/** Seconds that one statement may take: `status` counts a large ledger in a few. */
const deadline = 30;

/** Connects to what the environment says: SST's links, or the local stack's. Throws `not_configured`. */
export async function connect(): Promise<Services> {
  const { hint } = configure();
  // SST reads the environment at the first use: only now does it hold what the local stack left.
  const { ledgerOptions, resource } = await import("@owed/functions/resources");
  const ledger = new Ledger(ledgerOptions("owed-cli", deadline));
  let sqs: SQSClient | undefined;
  return {
    ledger,
    hint,
    async queues() {
      const notificationUrl = resource("NotificationQueue").url;
      const deadLetters = resource("NotificationDlq");
      const { createSqsClient } = await import("@owed/functions/sqs");
      sqs ??= createSqsClient(16);
      return { sqs, notificationUrl, deadLetters };
    },
    async sweeping() {
      const { readSettings } = await import("@owed/functions/settings");
      return { feedbackUrl: resource("FeedbackQueue").url, settings: readSettings() };
    },
    async close() {
      sqs?.destroy();
      await ledger.close();
    },
  };
}
