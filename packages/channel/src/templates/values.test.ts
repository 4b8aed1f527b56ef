import { expect, test } from "vitest";
import { aRequest } from "../email/fixtures.ts";
import { renderEmail, renderSms, renderWebhook } from "./index.ts";
import { valuesOf } from "./values.ts";

const at = (time: string, timeZone: string | null) =>
  valuesOf(aRequest({ timeZone, shipment: { ...aRequest().shipment, occurredAt: new Date(time) } }), "en-GB")
    .when;

test.for([
  // Spring: from 02:00 to 03:00; the day has 23 hours.
  ["2026-03-29T00:59:00Z", "Europe/Vienna", "29 March 2026 at 01:59 CET"],
  ["2026-03-29T01:00:00Z", "Europe/Vienna", "29 March 2026 at 03:00 CEST"],
  // Autumn: half past two comes twice, and only the zone's name tells which.
  ["2026-10-25T00:30:00Z", "Europe/Vienna", "25 October 2026 at 02:30 CEST"],
  ["2026-10-25T01:30:00Z", "Europe/Vienna", "25 October 2026 at 02:30 CET"],
  ["2026-12-31T23:30:00Z", "Asia/Kathmandu", "1 January 2027 at 05:15 GMT+5:45"],
  ["2026-03-12T14:05:00Z", null, "12 March 2026 at 14:05 UTC"],
  ["2026-03-12T14:05:00Z", "Mars/Olympus_Mons", "12 March 2026 at 14:05 UTC"],
  ["2026-03-12T14:05:00Z", "", "12 March 2026 at 14:05 UTC"],
  ["2026-03-12T14:05:00Z", "\u0000", "12 March 2026 at 14:05 UTC"],
] as const)("%s in %j is %s", ([time, zone, when]) => {
  expect(at(time, zone)).toBe(when);
});

test("a link is a button in HTML, an address in text, and a sentence elsewhere", () => {
  const merchant = { id: "m", name: "Shop", trackingUrl: 'https://t.example/?a&"={tracking_number}' };
  const request = aRequest({ merchant });
  const { text, html } = renderEmail(request);
  expect(text).toContain("\nTrack your parcel\nhttps://t.example/?a&%22=RR123456785AT\n");
  expect(html).toMatch(
    /<a href="https:\/\/t\.example\/\?a&amp;%22=RR123456785AT" [^>]*><bdi>Track your parcel</,
  );
  expect(renderSms(request)).toContain("Track it: https://t.example/?a&%22=RR123456785AT");
  expect(renderWebhook(request).text).toMatch(/ Tracking page: https:\/\/t\.example\/\S+RR123456785AT$/);
});

test.for([null, "http://t.example/{tracking_number}", "https://{tracking_number}"])(
  "with the address %j nothing speaks of a link",
  (trackingUrl) => {
    const request = aRequest({ merchant: { id: "m", name: "Shop", trackingUrl } });
    const { text, html } = renderEmail(request);
    for (const part of [text, html, renderSms(request), renderWebhook(request).text])
      expect(part).not.toMatch(/track|href|http/i);
  },
);
