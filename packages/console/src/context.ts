import type { Services } from "@owed/cli/services";
import type { Ledger } from "@owed/ledger";

/** What the pages work on. */
export type Context = {
  /** Answers questions; as `owed_reader` on a deployed stage. */
  ledger: Ledger;
  /** Does what an operator decides; null: the console was started to look alone. */
  writer: Ledger | null;
  /** The queues and settings, as the command line has them. */
  services: Pick<Services, "sqs" | "queue" | "settings" | "webhookKey">;
  /** Who acts, for the record. */
  actor: string;
  /** What is looked at: a stage's name, or this machine's stack. */
  stage: string;
  /** What can be tried out on the local stack, and nowhere else. */
  sandbox: Sandbox | null;
  /** Sent with each form, and known to nobody who can't read the page. */
  token: string;
};

/** The local stack's levers. */
export type Sandbox = {
  /** Where the emails, texts and webhooks can be read. */
  mailboxUrl: string;
  /** Lets so many events happen to the demonstration's shipments, as the platform would: by way of the bus. */
  happen: (events: number) => Promise<void>;
  /** A sweep now, not at the next minute. */
  sweep: () => Promise<void>;
  provider: { readonly stopped: boolean; stop: () => void; start: () => void };
  /** Throws away every message that waits in the notification queue. */
  purgeQueue: () => Promise<void>;
};
