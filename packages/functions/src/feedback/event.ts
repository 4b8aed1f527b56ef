import { parseInboundSms, parseSmsEvent } from "@owed/channel/sms-feedback";
import type { Proof, Word } from "@owed/ledger";
import * as v from "valibot";
import { isInstant } from "../instant.ts";
import { findings, verdictOf } from "./verdict.ts";

/** An SES event as EventBridge hands it to SQS; only what is read of it, and only what the ledger can hold. */
const schema = v.object({
  source: v.literal("aws.ses"),
  detail: v.object({
    eventType: v.string(),
    mail: v.object({
      messageId: v.pipe(v.string(), v.regex(/^[!-~]{1,256}$/)),
      timestamp: v.pipe(v.string(), v.check(isInstant)),
      tags: v.optional(v.object({ notification: v.optional(v.array(v.string())) }), {}),
    }),
    ...findings,
  }),
});

const notificationId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What an event is to us: evidence for a row, a recipient's own word, or of no interest, and why. */
export type Feedback = { proof: Omit<Proof, "queuedAt"> } | { heard: Omit<Word, "at"> } | { ignored: string };

/**
 * Parses a queue message's body by who says it: SES, End User Messaging, or somebody who answered a text. Never
 * throws.
 */
export function parseFeedback(body: string): Feedback {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { ignored: "it is not JSON" };
  }
  if (v.is(text, json)) return heardIn(json);
  if (!v.is(smsEvent, json)) return sesFeedback(json);
  const parsed = parseSmsEvent(json);
  return "ignored" in parsed ? parsed : { proof: { ...parsed.proof, evidence: "feedback" } };
}

const text = v.object({ messageBody: v.string() });
const smsEvent = v.object({ source: v.literal("aws.sms-voice") });

/** A text to one of our numbers, as its topic hands it on. */
function heardIn(json: unknown): Feedback {
  const heard = parseInboundSms(json);
  return "ignored" in heard ? heard : { heard: { channel: "sms", address: heard.from, word: heard.word } };
}

/** The row is found by the tag that it was sent with. */
function sesFeedback(json: unknown): Feedback {
  const parsed = v.safeParse(schema, json);
  // The field alone: the message would quote what stands in it.
  if (!parsed.success)
    return { ignored: `its ${v.getDotPath(parsed.issues[0]) ?? "body"} is not that of an SES event` };
  const { detail } = parsed.output;
  const verdict = verdictOf(detail);
  if (!verdict)
    return { ignored: `events of the type ${typeName(detail.eventType)} say nothing about acceptance` };
  const { mail } = detail;
  const id = mail.tags.notification?.[0];
  if (!id || !notificationId.test(id)) return { ignored: "it has no tag that names a notification" };
  return {
    proof: {
      id,
      at: mail.timestamp,
      provider: "ses",
      providerMessageId: mail.messageId,
      ...verdict,
      evidence: "feedback",
    },
  };
}

const typeName = (eventType: string): string =>
  /^[A-Za-z ]{1,40}$/.test(eventType) ? eventType : "(unknown)";
