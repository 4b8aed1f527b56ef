import { verdictOfEvent } from "./event-verdict.ts";
import { isObject, type Json, objectOf, textOf, unwrapped } from "./json.ts";

/** What an event of AWS End User Messaging proves of a notification. */
export type SmsProof = {
  /** The notification's. */
  id: string;
  /** When AWS took the text, RFC 3339. */
  at: string;
  provider: "sms-voice";
  providerMessageId: string;
  outcome: "accepted" | "arrived" | "bounced";
  /** Short, begins with a code word, and holds no personal data; null: the outcome says it all. */
  detail: string | null;
  /** The number is not to be written to any more. */
  suppress: boolean;
};

const notificationId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Parses an event about a text message: `Text Message Delivery Status Updated` on EventBridge's default bus, where
 * `detail` is the event, or the event itself, as a configuration set's SNS destination gets it (user guide of AWS End
 * User Messaging SMS, "Monitoring with EventBridge" and "Example event data"). The row is found by the context that the
 * text was sent with. Never throws.
 */
export function parseSmsEvent(event: unknown): { proof: SmsProof } | { ignored: string } {
  const value = unwrapped(event);
  if (!isObject(value)) return { ignored: "it is no object" };
  const ofBus = Object.hasOwn(value, "detail");
  if (ofBus && textOf(value, "source") !== "aws.sms-voice")
    return { ignored: "its source is not that of a text message's event" };
  const detail = ofBus ? objectOf(value, "detail") : value;
  const type = textOf(detail, "eventType");
  const verdict = verdictOfEvent(type, detail.isFinal === true);
  if (!verdict) return { ignored: `events of the type ${typeName(type)} say nothing about acceptance` };
  const at = requestedAt(detail);
  if (at === null) return { ignored: "its messageRequestTimestamp is not that of a text message's event" };
  const providerMessageId = textOf(detail, "messageId");
  if (!/^[!-~]{1,256}$/.test(providerMessageId))
    return { ignored: "its messageId is not that of a text message's event" };
  const id = textOf(objectOf(detail, "context"), "notification");
  if (!notificationId.test(id)) return { ignored: "it has no context that names a notification" };
  return { proof: { id, at, provider: "sms-voice", providerMessageId, ...verdict } };
}

const typeName = (type: string): string => (/^[A-Z_]{1,40}$/.test(type) ? type : "(unknown)");

/** The last millisecond of the year 9999: beyond it RFC 3339 has no dates. */
const lastMoment = 253_402_300_799_999;

/** When AWS got the request, of which it tells the milliseconds since 1970. */
function requestedAt({ messageRequestTimestamp: at }: Json): string | null {
  if (typeof at !== "number" || !Number.isFinite(at) || at < 0 || at > lastMoment) return null;
  return new Date(at).toISOString();
}
