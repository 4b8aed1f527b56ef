import { randomUUID } from "node:crypto";

/** A shipment event's detail that is all right but for what is given. */
export const detailOf = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: `E-${randomUUID()}`,
  shipment_id: "S-1",
  status: "customs_hold",
  occurred_at: "2026-03-29T09:30:00.123456+02:00",
  ...more,
});

/** A shipment event as EventBridge puts it into the queue. */
export const envelope = (detail: unknown, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  version: "0",
  id: randomUUID(),
  "detail-type": "shipment.status_changed",
  source: "platform",
  account: "000000000000",
  time: "2026-03-29T07:30:00Z",
  region: "us-east-1",
  resources: [],
  detail,
  ...more,
});

/** The same as a queue message's body. */
export const bodyOf = (more: Record<string, unknown> = {}): string =>
  JSON.stringify(envelope(detailOf(more)));
