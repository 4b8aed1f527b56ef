import type { sampleRequest } from "@owed/channel/templates";

/** What `owed preview` was asked for. */
export type Options = {
  template?: string;
  status?: string;
  channel?: string;
  locale?: string;
  role?: ReturnType<typeof sampleRequest>["role"];
  name?: string;
  merchant?: string;
  parcel?: string;
  trackingUrl?: string;
  timeZone?: string;
  at?: string;
  html?: true;
  check?: true;
};
