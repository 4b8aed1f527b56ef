import type { Claimed } from "./claim.ts";

/** A claimed row as the ledger tells it: its columns in owed.telling, with its channel's. */
export type ClaimedRow = Pick<
  Claimed,
  "token" | "group" | "channel" | "template" | "role" | "address" | "name" | "locale" | "rate" | "failures"
> & {
  time_zone: string | null;
  shipment_id: string;
  tracking_number: string;
  status: string;
  occurred_at: Date;
  merchant_id: string;
  merchant_name: string;
  tracking_url: string | null;
};

/** What a worker is given to send. */
export const claimedOf = (row: ClaimedRow): Claimed => ({
  verdict: "claimed",
  token: row.token,
  group: row.group,
  channel: row.channel,
  template: row.template,
  role: row.role,
  address: row.address,
  name: row.name,
  locale: row.locale,
  timeZone: row.time_zone,
  shipment: {
    id: row.shipment_id,
    trackingNumber: row.tracking_number,
    status: row.status,
    occurredAt: row.occurred_at,
  },
  merchant: { id: row.merchant_id, name: row.merchant_name, trackingUrl: row.tracking_url },
  rate: row.rate,
  failures: row.failures,
});
