import { randomUUID } from "node:crypto";

/** An address that SES's events quote, and that must not be seen anywhere else. */
export const recipient = "ana@example.org";
const at = "2026-03-29T09:31:00.456Z";
const feedbackId = "0100019000000000-1b2c3d4e-0000-0000-0000-000000000000-000000";

/** What stands in an event beside `mail`, by its type (Amazon SES developer guide, examples of event data). */
const findings: Record<string, Record<string, unknown>> = {
  Send: { send: {} },
  Delivery: {
    delivery: {
      timestamp: at,
      processingTimeMillis: 546,
      recipients: [recipient],
      smtpResponse: `250 2.6.0 Message received for ${recipient}`,
      reportingMTA: "mta.example.org",
    },
  },
  Bounce: { bounce: bounceOf("Permanent", "General") },
  Complaint: { complaint: complaintOf("abuse") },
  Reject: { reject: { reason: "Bad content" } },
  DeliveryDelay: {
    deliveryDelay: {
      timestamp: at,
      delayType: "MailboxFull",
      expirationTime: "2026-03-29T23:31:00.456Z",
      delayedRecipients: [
        { emailAddress: recipient, status: "4.2.2", diagnosticCode: `smtp; 452 4.2.2 ${recipient} is full` },
      ],
    },
  },
};

/** A bounce with the delivery report that SES itself or a mail server wrote. */
export function bounceOf(bounceType: unknown, bounceSubType: unknown): Record<string, unknown> {
  const diagnosticCode = `smtp; 550 5.1.1 ${recipient}: user unknown`;
  return {
    ...{ bounceType, bounceSubType, timestamp: at, feedbackId, reportingMTA: "dsn; mta.example.org" },
    bouncedRecipients: [{ emailAddress: recipient, action: "failed", status: "5.1.1", diagnosticCode }],
  };
}

/** `null`: the complaint came without a feedback report. */
export function complaintOf(complaintFeedbackType: unknown, complaintSubType: unknown = null) {
  return {
    ...{ complainedRecipients: [{ emailAddress: recipient }], timestamp: at, feedbackId, complaintSubType },
    ...(complaintFeedbackType !== null && { complaintFeedbackType, userAgent: `Loop of ${recipient}/1.0` }),
  };
}

/** A bounce without such a report: an automatic answer, as SES reports it. */
export const answerOf = (
  bounceType: unknown,
  bounceSubType: unknown,
  bouncedRecipients: unknown = [{ emailAddress: recipient }],
) => ({ bounceType, bounceSubType, bouncedRecipients, timestamp: at, feedbackId });

/** An event of SES about the email of a notification, as EventBridge hands it over; all right but for what is given. */
export function sesEvent(notification: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const given = {
    source: "aws.ses",
    eventType: "Send",
    messageId: `0100-${randomUUID()}-000000`,
    timestamp: new Date().toISOString(),
    tags: { "ses:operation": ["SendEmail"], notification: [notification] },
    ...more,
  };
  const { source, eventType, messageId, timestamp, tags, ...found } = given;
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": "Email Sent",
    source,
    account: "000000000000",
    region: "us-east-1",
    resources: [],
    detail: {
      eventType,
      mail: { messageId, timestamp, tags, destination: [recipient] },
      ...findings[eventType],
      ...found,
    },
  };
}
