import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Settings } from "@owed/functions/settings";
import { Ledger } from "@owed/ledger";
import { configure } from "./configuration.ts";

/** A queue that a command works on, and the one for its dead letters. */
export type Queue = { url: string; deadLetters: { url: string; arn: string } };

export const queueNames = ["notification", "event", "feedback"] as const;
export type QueueName = (typeof queueNames)[number];

/** What the commands work on. Nothing is connected, and no link is read, before its first use. */
export type Services = {
  ledger: Ledger;
  /** Loads the AWS SDK, which most commands do without. */
  sqs(): Promise<SQSClient>;
  queue(name: QueueName): Queue;
  settings(): Promise<Settings>;
  /** What webhooks' signing secrets are derived from; null where the stage sends none. */
  webhookKey(): Promise<string | null>;
  /** What to try when nothing answers. */
  hint: string;
  close(): Promise<void>;
};

/** Seconds that one statement may take: `status` counts a large ledger in a few. */
const deadline = 30;

/** What a command does to the ledger, and so the role that it has there. */
export const ledgerUsers = { reads: "reader", writes: "operator" } as const;
export type Kind = keyof typeof ledgerUsers;

/** Connects to what the environment says: SST's links, or the local stack's. Throws `not_configured`. */
export async function connect(kind: Kind): Promise<Services> {
  const { hint } = configure();
  // SST reads the environment at the first use: only now does it hold what the local stack left.
  const { ledgerOptions, linked, resource } = await import("@owed/functions/resources");
  const ledger = new Ledger(ledgerOptions(ledgerUsers[kind], deadline));
  let sqs: SQSClient | undefined;
  const queues: Record<QueueName, () => Queue> = {
    notification: () => ({
      url: resource("NotificationQueue").url,
      deadLetters: resource("NotificationDlq"),
    }),
    event: () => ({ url: resource("EventQueue").url, deadLetters: resource("EventDlq") }),
    feedback: () => ({ url: resource("FeedbackQueue").url, deadLetters: resource("FeedbackDlq") }),
  };
  return {
    ledger,
    hint,
    async sqs() {
      const { createSqsClient } = await import("@owed/functions/sqs");
      sqs ??= createSqsClient(16);
      return sqs;
    },
    queue: (name) => queues[name](),
    async settings() {
      const { readSettings } = await import("@owed/functions/settings");
      return readSettings();
    },
    async webhookKey() {
      return linked("WebhookKey")?.value ?? null;
    },
    async close() {
      sqs?.destroy();
      await ledger.close();
    },
  };
}
