import { randomUUID } from "node:crypto";
import type { FailureType, SmsFate } from "./fate.ts";
import type { AcceptedText } from "./text.ts";

type EventType = "TEXT_PENDING" | "TEXT_SUCCESSFUL" | "TEXT_DELIVERED" | FailureType;

/** One thing that AWS tells of a text. */
export interface Chapter {
  readonly eventType: EventType;
  /** No other comes after it. */
  readonly isFinal: boolean;
}

/** An event as AWS End User Messaging puts it on EventBridge's default bus (user guide, "Monitoring with EventBridge"). */
export interface SmsEvent {
  readonly version: "0";
  readonly id: string;
  readonly "detail-type": "Text Message Delivery Status Updated";
  readonly source: "aws.sms-voice";
  readonly account: string;
  /** To the second. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: Chapter & {
    readonly eventVersion: "1.0";
    readonly eventTimestamp: number;
    readonly originationPhoneNumber: string;
    readonly messageId: string;
    readonly messageRequestTimestamp: number;
    readonly messageEncoding: "GSM" | "UNICODE";
    readonly messageType: string;
    readonly messageStatus: string;
    readonly messageStatusDescription: string;
    readonly context?: Readonly<Record<string, string>>;
    readonly totalMessageParts: number;
    readonly totalMessagePrice: number;
    readonly totalCarrierFee: number;
  };
}

export const pending: Chapter = { eventType: "TEXT_PENDING", isFinal: false };

/** What AWS tells of a text after the first event, in the order in which it happens. */
export function story(fate: SmsFate): Chapter[] {
  const delivered: Chapter[] = [
    { eventType: "TEXT_SUCCESSFUL", isFinal: false },
    { eventType: "TEXT_DELIVERED", isFinal: true },
  ];
  switch (fate.kind) {
    case "arrive":
      return fate.receipt === false ? [{ eventType: "TEXT_SUCCESSFUL", isFinal: true }] : delivered;
    case "reply":
      return delivered;
    case "delay": {
      const off: Chapter = { eventType: "TEXT_UNREACHABLE", isFinal: false };
      return fate.arrives ? [off, ...delivered] : [off];
    }
    case "fail":
      return [{ eventType: fate.type, isFinal: true }];
  }
}

/** An event about a text, of this moment. As AWS's own on the bus it tells no recipient's number. */
export function eventOf(
  text: AcceptedText,
  chapter: Chapter,
  { account, region }: { account: string; region: string },
): SmsEvent {
  const status = chapter.eventType.replace("TEXT_", "");
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": "Text Message Delivery Status Updated",
    source: "aws.sms-voice",
    account,
    time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    region,
    resources: [],
    detail: {
      ...chapter,
      eventVersion: "1.0",
      eventTimestamp: Date.now(),
      originationPhoneNumber: text.from,
      messageId: text.messageId,
      messageRequestTimestamp: text.at,
      messageEncoding: text.encoding,
      messageType: text.type,
      messageStatus: status,
      messageStatusDescription: `The message to ${text.to} is ${status.toLowerCase().replaceAll("_", " ")}`,
      ...(Object.keys(text.context).length > 0 && { context: text.context }),
      totalMessageParts: text.segments,
      totalMessagePrice: 0.00581 * text.segments,
      totalCarrierFee: 0.00302 * text.segments,
    },
  };
}
