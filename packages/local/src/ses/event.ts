import { randomUUID } from "node:crypto";
import { type AcceptedEmail, recipients } from "./email.ts";

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

/** The envelope in which SES puts an event on EventBridge's default bus. */
interface Envelope<DetailType extends string, Detail> {
  readonly version: "0";
  readonly id: string;
  readonly "detail-type": DetailType;
  readonly source: "aws.ses";
  readonly account: string;
  /** To the second. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: Detail;
}

/** SES has accepted the email and will try to deliver it. */
export type SesSendEvent = Envelope<
  "Email Sent",
  { readonly eventType: "Send"; readonly mail: SesMail; readonly send: Readonly<Record<string, never>> }
>;

/** Every kind of event that this SES emits. */
export type SesEvent = SesSendEvent;

/** Where an event comes from. */
export interface EventOrigin {
  readonly account: string;
  readonly region: string;
  /** The identity's default configuration set, for emails that name none. */
  readonly configurationSet: string;
}

export function sendEvent(email: AcceptedEmail, origin: EventOrigin): SesSendEvent {
  const detail = { eventType: "Send", mail: mail(email, origin), send: {} } as const;
  return envelope("Email Sent", email, origin, email.at, detail);
}

function envelope<DetailType extends string, Detail>(
  detailType: DetailType,
  { configurationSet }: AcceptedEmail,
  origin: EventOrigin,
  at: number,
  detail: Detail,
): Envelope<DetailType, Detail> {
  const { account, region } = origin;
  const set = configurationSet ?? origin.configurationSet;
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": detailType,
    source: "aws.ses",
    account,
    time: new Date(at).toISOString().replace(/\.\d+Z$/, "Z"),
    region,
    resources: [`arn:aws:ses:${region}:${account}:configuration-set/${set}`],
    detail,
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
