import { randomUUID } from "node:crypto";

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
  const { source, eventType, messageId, timestamp, tags } = given;
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": "Email Sent",
    source,
    account: "000000000000",
    region: "us-east-1",
    resources: [],
    detail: { eventType, mail: { messageId, timestamp, tags, destination: ["ana@example.org"] }, send: {} },
  };
}
