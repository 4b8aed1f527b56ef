import { randomUUID } from "node:crypto";
import { type AcceptedEmail, recipients } from "./email.ts";
import type { Chapter } from "./story.ts";

/** What every event of SES says about the email (SES developer guide, "mail object"). */
export interface SesMail {
  readonly timestamp: string;
  readonly source: string;
  readonly sendingAccountId: string;
  readonly messageId: string;
  readonly destination: readonly string[];
  readonly headersTruncated: boolean;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly commonHeaders: {
    readonly from: readonly string[];
    readonly to: readonly string[];
    readonly messageId: string;
    readonly subject: string;
  };
  /** The email's own tags and those that SES adds, each with a list of values. */
  readonly tags: Readonly<Record<string, readonly string[]>>;
}

/** An event as SES puts it on EventBridge's default bus. */
export interface SesEvent {
  readonly version: "0";
  readonly id: string;
  readonly "detail-type": string;
  readonly source: "aws.ses";
  readonly account: string;
  /** To the second. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: Chapter & { readonly mail: SesMail };
}

/** What EventBridge calls SES's types of events. */
const detailTypes: Readonly<Record<Chapter["eventType"], string>> = {
  Send: "Email Sent",
  Delivery: "Email Delivered",
  Bounce: "Email Bounced",
  Complaint: "Email Complaint Received",
  DeliveryDelay: "Email Delivery Delayed",
  Reject: "Email Rejected",
};

/** Where an event comes from. */
export interface EventOrigin {
  readonly account: string;
  readonly region: string;
  /** The identity's default configuration set, for emails that name none. */
  readonly configurationSet: string;
}

/** An event about an email, of this moment. */
export function eventOf(email: AcceptedEmail, chapter: Chapter, origin: EventOrigin): SesEvent {
  const { account, region } = origin;
  const set = email.configurationSet ?? origin.configurationSet;
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": detailTypes[chapter.eventType],
    source: "aws.ses",
    account,
    time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    region,
    resources: [`arn:aws:ses:${region}:${account}:configuration-set/${set}`],
    detail: { ...chapter, mail: mail(email, origin) },
  };
}

function mail(email: AcceptedEmail, { account, configurationSet }: EventOrigin): SesMail {
  const { source, to, subject, messageId } = email;
  return {
    timestamp: new Date(email.at).toISOString(),
    source,
    sendingAccountId: account,
    messageId,
    destination: recipients(email),
    headersTruncated: false,
    headers: [
      { name: "From", value: source },
      { name: "To", value: to.join(", ") },
      { name: "Subject", value: subject },
    ],
    commonHeaders: { from: [source], to, messageId, subject },
    tags: {
      "ses:operation": [email.action],
      "ses:configuration-set": [email.configurationSet ?? configurationSet],
      "ses:source-ip": ["127.0.0.1"],
      "ses:from-domain": [source.replace(/>\s*$/, "").split("@").at(-1) ?? ""],
      "ses:caller-identity": ["local"],
      ...Object.fromEntries(Object.entries(email.tags).map(([name, value]) => [name, [value]])),
    },
  };
}
