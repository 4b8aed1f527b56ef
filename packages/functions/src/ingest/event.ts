import type { ShipmentEvent } from "@owed/ledger";
import * as v from "valibot";
import { isInstant } from "../instant.ts";

/** The detail-type of the platform's events on the bus. */
export const detailType = "shipment.status_changed";

const text = (pattern: RegExp, message: string) =>
  v.pipe(v.string("must be a text"), v.regex(pattern, message));

/** What EventBridge hands to an SQS target: its envelope, with the platform's event as the detail. */
const schema = v.object(
  {
    "detail-type": v.literal(detailType, `must be ${detailType}`),
    detail: v.object(
      {
        id: text(/^[A-Za-z0-9._:-]{1,128}$/, "must be 1 to 128 characters of A-Z a-z 0-9 . _ : -"),
        shipment_id: text(/^[A-Za-z0-9._:-]{1,64}$/, "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -"),
        status: text(/^[a-z][a-z_]{0,39}$/, "must be a status such as customs_hold"),
        occurred_at: v.pipe(
          v.string("must be a text"),
          v.check(
            isInstant,
            "must be a time that exists, with its offset, such as 2026-03-29T09:30:00+02:00 (RFC 3339)",
          ),
        ),
      },
      "must be an object",
    ),
  },
  "must be an object",
);

/** An event that can't be recorded as it is: the field that is wrong, and why. */
export type Refusal = { field: string; reason: string };

const largest = 64 * 1024;

/** Parses a queue message's body into a shipment event, or says which field is wrong and why. Never throws. */
export function parseEvent(body: string): ShipmentEvent | Refusal {
  if (Buffer.byteLength(body) > largest)
    return { field: "body", reason: `must not be larger than ${largest} bytes` };
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { field: "body", reason: "must be JSON" };
  }
  const parsed = v.safeParse(schema, json);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const path = v.getDotPath(issue) ?? "body";
    return {
      field: path.replace(/^detail\./, ""),
      reason: issue.received === "undefined" ? "is missing" : issue.message,
    };
  }
  const { id, shipment_id, status, occurred_at } = parsed.output.detail;
  return { id, shipmentId: shipment_id, status, occurredAt: occurred_at };
}
