import { ACCOUNT_ID } from "../sqs/backend.ts";
import { serve } from "../sqs/http.ts";
import type { SesEvent } from "./event.ts";
import type { SesFaults } from "./faults.ts";
import { Front } from "./front.ts";
import { Mailbox, type SentEmail, type Shown } from "./mailbox.ts";
import { SendQuota } from "./quota.ts";

export interface SesOptions {
  readonly port?: number;
  /** The name of the setting that holds the port, for the error when it is taken. */
  readonly setting?: string;
  /** Gets the event of each accepted email; sends do not wait for it. */
  readonly onEvent?: (event: SesEvent) => void | Promise<void>;
  /** How many records of sent emails stay, at least. */
  readonly keep?: number;
  /** What GetSendQuota reports; with `enforced` sends beyond it are throttled. */
  readonly quota?: {
    readonly max24HourSend?: number;
    readonly maxSendRate?: number;
    readonly enforced?: boolean;
  };
  /** What other channels have sent, for the page to show beside the emails. */
  readonly others?: (query: string) => readonly Shown[];
  readonly region?: string;
  /** The identity's default configuration set, for emails that name none. */
  readonly configurationSet?: string;
}

export interface LocalSes {
  /** Where the SDK's `endpoint` or AWS_ENDPOINT_URL_SES must point. */
  readonly endpoint: string;
  /** The page that shows the emails. */
  readonly mailboxUrl: string;
  readonly faults: SesFaults;
  /** Can be changed at any time. */
  readonly quota: SendQuota;
  /** A record of each accepted email, in the order of acceptance. */
  readonly sent: readonly SentEmail[];
  /** Empties the mailbox. */
  clear(): void;
  stop(): Promise<void>;
}

/**
 * SES on this machine: takes SendEmail and SendRawEmail of the SDK's SES client (version 1, query protocol),
 * refuses what SES refuses, keeps the emails in memory and emits SES's own events.
 *
 * It is our own small record, not aws-ses-v2-local: that keeps every email for good in one store for the whole
 * process (1 kB each; its page then loads all of them), only the first recipient, no tags, and counts its
 * message ids from 1 at each start.
 *
 * @throws PortTaken
 */
export async function startSes(options: SesOptions = {}): Promise<LocalSes> {
  const { port = 0, setting = "the port of SES", onEvent = () => undefined, keep = 200_000 } = options;
  const { region = "us-east-1", configurationSet = "default", others = () => [] } = options;
  const mailbox = new Mailbox(keep, others);
  const quota = new SendQuota(options.quota);
  const front = new Front(mailbox, quota, { account: ACCOUNT_ID, region, configurationSet }, onEvent);
  const { endpoint, stop } = await serve(port, setting, (exchange) => front.answer(exchange));
  return {
    endpoint,
    mailboxUrl: `${endpoint}/`,
    faults: front.faults,
    quota,
    sent: mailbox.sent,
    clear: () => mailbox.clear(),
    stop,
  };
}
