import { ACCOUNT_ID } from "../sqs/backend.ts";
import { serve } from "../sqs/http.ts";
import type { SmsEvent } from "./event.ts";
import type { SmsFaults } from "./faults.ts";
import { Front } from "./front.ts";
import { type InboundText, inboundOf, keywordOf } from "./inbound.ts";
import { SmsLimits } from "./limits.ts";
import { Outbox, type SentText, type SmsRow } from "./outbox.ts";

export interface SmsOptions {
  readonly port?: number;
  /** The name of the setting that holds the port, for the error when it is taken. */
  readonly setting?: string;
  /** Gets the events of each accepted text; sends do not wait for it. */
  readonly onEvent?: (event: SmsEvent) => void | Promise<void>;
  /** Gets what people answer. */
  readonly onInbound?: (text: InboundText) => void | Promise<void>;
  /** How many sent texts stay, at least. */
  readonly keep?: number;
  readonly limits?: { readonly partsPerSecond?: number | null; readonly monthlyParts?: number | null };
  readonly region?: string;
  /** Whether AWS leaves opt-outs to us, and puts nobody on its list by itself. */
  readonly selfManagedOptOuts?: boolean;
}

export interface LocalSms {
  /** Where the SDK's `endpoint` or AWS_ENDPOINT_URL_PINPOINT_SMS_VOICE_V2 must point. */
  readonly endpoint: string;
  readonly faults: SmsFaults;
  /** Can be changed at any time. */
  readonly limits: SmsLimits;
  /** Numbers on the opt-out list. */
  readonly optedOut: Set<string>;
  /** Each accepted text, in the order of acceptance. */
  readonly sent: readonly SentText[];
  /** The latest texts for a page, the oldest first. @param query a part of a number, text, message id or context */
  smsRows(query?: string): SmsRow[];
  /** A text from somebody: `onInbound` gets it, and a keyword such as `STOP` puts the number on the opt-out list. */
  receive(from: string, text: string): Promise<void>;
  /** Empties `sent` and the opt-out list. */
  clear(): void;
  stop(): Promise<void>;
}

/**
 * AWS End User Messaging SMS on this machine: takes SendTextMessage of the SDK's client (AWS JSON protocol), refuses what
 * AWS refuses, keeps the texts in memory and emits AWS's own events.
 *
 * @throws PortTaken
 */
export async function startSms(options: SmsOptions = {}): Promise<LocalSms> {
  const { port = 0, setting = "the port of SMS", region = "us-east-1", keep = 200_000 } = options;
  const { onEvent = () => undefined, onInbound = () => undefined } = options;
  const outbox = new Outbox(keep);
  const limits = new SmsLimits(options.limits);
  const front = new Front(outbox, limits, { account: ACCOUNT_ID, region }, onEvent, receive);

  async function receive(from: string, text: string): Promise<void> {
    if (keywordOf(text) && !options.selfManagedOptOuts) front.optedOut.add(from);
    const last = outbox.lastTo(from);
    await onInbound(inboundOf(from, last?.from ?? "+12065550100", text, last?.messageId));
  }

  const { endpoint, stop } = await serve(port, setting, (exchange) => front.answer(exchange));
  return {
    endpoint,
    faults: front.faults,
    limits,
    optedOut: front.optedOut,
    sent: outbox.sent,
    smsRows: (query) => outbox.rows(query),
    receive,
    clear() {
      outbox.clear();
      front.optedOut.clear();
    },
    stop,
  };
}
