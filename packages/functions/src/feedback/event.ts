import type { Proof } from "@owed/ledger";
import * as v from "valibot";

/** The SES events that say that a message was accepted, and what became of it (Amazon SES developer guide, event publishing). */
const outcomes = {
  Send: "accepted",
  Delivery: "arrived",
  Bounce: "bounced",
  Complaint: "complained",
} as const;

/** An SES event as EventBridge hands it to SQS; only what is read of it. */
const schema = v.object({
  source: v.literal("aws.ses"),
  detail: v.object({
    eventType: v.string(),
    mail: v.object({
      messageId: v.pipe(v.string(), v.nonEmpty()),
      timestamp: v.pipe(v.string(), v.isoTimestamp()),
      tags: v.optional(v.record(v.string(), v.array(v.string())), {}),
    }),
  }),
});

const notificationId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What an event is to us: evidence for a row, or of no interest, and why. */
export type Feedback = { proof: Proof } | { ignored: string };

/** Parses a queue message's body; never throws. The row is found by the tag that it was sent with. */
export function parseFeedback(body: string): Feedback {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { ignored: "it is not JSON" };
  }
  const parsed = v.safeParse(schema, json);
  if (!parsed.success)
    return { ignored: `${v.getDotPath(parsed.issues[0]) ?? "it"}: ${parsed.issues[0].message}` };
  const { eventType, mail } = parsed.output.detail;
  const outcome = Object.hasOwn(outcomes, eventType) ? outcomes[eventType as keyof typeof outcomes] : null;
  if (!outcome)
    return { ignored: `events of the type ${eventType.slice(0, 40)} say nothing about acceptance` };
  const id = mail.tags.notification?.[0];
  if (!id || !notificationId.test(id)) return { ignored: "it has no tag that names a notification" };
  return {
    proof: {
      id,
      at: mail.timestamp,
      provider: "ses",
      providerMessageId: mail.messageId,
      outcome,
      evidence: "feedback",
    },
  };
}
