import { randomUUID } from "node:crypto";
import { type AcceptedEmail, recipients } from "./email.ts";
import { bare, type Fate } from "./fate.ts";

/** What an event says beside the email itself, by its type (SES developer guide, "contents of event data"). */
export type Chapter =
  | { readonly eventType: "Send"; readonly send: Readonly<Record<string, never>> }
  | { readonly eventType: "Delivery"; readonly delivery: object }
  | { readonly eventType: "Bounce"; readonly bounce: object }
  | { readonly eventType: "Complaint"; readonly complaint: object }
  | { readonly eventType: "DeliveryDelay"; readonly deliveryDelay: object }
  | { readonly eventType: "Reject"; readonly reject: { readonly reason: string } };

export const sent: Chapter = { eventType: "Send", send: {} };

/** What SES tells of an email after it was sent, in the order in which it happens. */
export function story(email: AcceptedEmail, fate: Fate): Chapter[] {
  switch (fate.kind) {
    case "arrive":
      return [delivery(email)];
    case "bounce":
      return fate.late ? [delivery(email), bounce(email, fate)] : [bounce(email, fate)];
    case "answer":
      return [delivery(email), answer(email, fate)];
    case "complain":
      return [delivery(email), complaint(email, fate)];
    case "delay":
      return fate.arrives ? [delay(email, fate), delivery(email)] : [delay(email, fate)];
    case "reject":
      return [{ eventType: "Reject", reject: { reason: "Bad content" } }];
  }
}

type FateOf<Kind extends Fate["kind"]> = Extract<Fate, { kind: Kind }>;

const now = () => new Date().toISOString();
const feedbackId = () => `0100${Date.now().toString(16).padStart(12, "0")}-${randomUUID()}-000000`;
const reportingMTA = "a8-50.smtp-out.amazonses.com";

function delivery(email: AcceptedEmail): Chapter {
  const to = recipients(email).map(bare);
  return {
    eventType: "Delivery",
    delivery: {
      timestamp: now(),
      processingTimeMillis: Date.now() - email.at,
      recipients: to,
      smtpResponse: `250 2.6.0 Message received for ${to.join(", ")}`,
      reportingMTA,
    },
  };
}

/** With the delivery report, whose texts quote the address as mail servers do. */
function bounce(email: AcceptedEmail, { type = "Permanent", subType }: FateOf<"bounce">): Chapter {
  const [status, said] =
    type === "Permanent" ? ["5.1.1", "550 5.1.1 user unknown"] : ["4.2.2", "452 4.2.2 not now"];
  return {
    eventType: "Bounce",
    bounce: {
      bounceType: type,
      bounceSubType: subType ?? (type === "Undetermined" ? "Undetermined" : "General"),
      bouncedRecipients: recipients(email).map((to) => ({
        emailAddress: bare(to),
        action: "failed",
        status,
        diagnosticCode: `smtp; ${said}: <${bare(to)}>`,
      })),
      timestamp: now(),
      feedbackId: feedbackId(),
      reportingMTA: `dsn; ${reportingMTA}`,
    },
  };
}

function answer(email: AcceptedEmail, { type = "Transient" }: FateOf<"answer">): Chapter {
  return {
    eventType: "Bounce",
    bounce: {
      bounceType: type,
      bounceSubType: type === "Transient" ? "General" : "Undetermined",
      bouncedRecipients:
        type === "Transient" ? recipients(email).map((to) => ({ emailAddress: bare(to) })) : [],
      timestamp: now(),
      feedbackId: feedbackId(),
    },
  };
}

function complaint(email: AcceptedEmail, { type = "abuse", subType }: FateOf<"complain">): Chapter {
  return {
    eventType: "Complaint",
    complaint: {
      complainedRecipients: recipients(email).map((to) => ({ emailAddress: bare(to) })),
      timestamp: now(),
      feedbackId: feedbackId(),
      complaintSubType: subType ?? null,
      ...(type && { userAgent: "local", complaintFeedbackType: type, arrivalDate: now() }),
    },
  };
}

function delay(email: AcceptedEmail, { type = "MailboxFull" }: FateOf<"delay">): Chapter {
  return {
    eventType: "DeliveryDelay",
    deliveryDelay: {
      timestamp: now(),
      delayType: type,
      // SES tries for 14 hours.
      expirationTime: new Date(email.at + 14 * 60 * 60 * 1000).toISOString(),
      delayedRecipients: recipients(email).map((to) => ({
        emailAddress: bare(to),
        status: "4.2.2",
        diagnosticCode: `smtp; 452 4.2.2 <${bare(to)}> not now`,
      })),
      reportingMTA,
    },
  };
}
