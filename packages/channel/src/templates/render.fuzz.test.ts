import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText, cost, isPlainReason, longTexts, tally } from "../../../../tests/hostile/arbitraries.ts";
import { aRequest } from "../email/fixtures.ts";
import { RefusedError } from "../errors.ts";
import { segmentsOf } from "../sms/segments.ts";
import { choose } from "./choose.ts";
import { renderEmail, renderSms, renderWebhook } from "./index.ts";
import { languages } from "./languages.ts";
import { templates } from "./names.ts";

const seen = tally("rendered", "refused");

const tag = fc.oneof(
  fc.constantFrom(
    "en",
    "de-AT",
    "fr_CA",
    "ar-EG-u-nu-latn",
    "de-DE-1996-1996",
    "zh-Hant",
    "x-ana",
    "i-klingon",
    "de-x-ana",
    "en-u-tz-utc",
  ),
  anyText,
);
const request = fc
  .record({
    template: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...templates) },
      { weight: 1, arbitrary: anyText },
    ),
    name: fc.option(anyText),
    locale: tag,
    parcel: anyText,
    merchant: anyText,
    trackingUrl: fc.option(
      fc.oneof(anyText, fc.constantFrom("https://t.example/{tracking_number}", "https://{tracking_number}")),
    ),
    timeZone: fc.option(fc.oneof(anyText, fc.constantFrom("Europe/Vienna", "Asia/Kathmandu", "+05:30"))),
    occurredAt: fc.oneof(
      { weight: 9, arbitrary: fc.date({ noInvalidDate: true }) },
      { weight: 1, arbitrary: fc.constant(new Date(Number.NaN)) },
    ),
    role: fc.constantFrom("buyer" as const, "merchant" as const, "agent" as const),
  })
  .map(({ parcel, merchant, trackingUrl, occurredAt, ...more }) =>
    aRequest({
      ...more,
      shipment: { id: "s", trackingNumber: parcel, status: "x", occurredAt },
      merchant: { id: "m", name: merchant, trackingUrl },
    }),
  );

/** The elements of a page, in their order. */
const elements = (html: string): string[] =>
  (html.match(/<\/?[a-z!][^>]*>/gi) ?? []).map((tag) =>
    tag.replace(/ (lang|dir)="[a-zA-Z-]+"| href="https:[^"<>\s]+"/g, ""),
  );
const skeletons = new Set(
  templates.flatMap((template) =>
    [...languages().keys()].flatMap((locale) =>
      (["buyer", "merchant"] as const).flatMap((role) =>
        ["https://t.example", null].flatMap((trackingUrl) =>
          ["Ana", null].map((name) => {
            const merchant = { id: "m", name: "m", trackingUrl };
            return elements(renderEmail(aRequest({ template, locale, role, merchant, name })).html).join("");
          }),
        ),
      ),
    ),
  ),
);

/** Nothing that a screen would act on, and the halves of no character. */
function isClean(part: string): void {
  expect(part.isWellFormed()).toBe(true);
  expect(part).not.toMatch(/(?!\n)[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u);
}

test("any values make one of the emails there are, with nothing in it but their text, or are refused", () => {
  fc.assert(
    fc.property(request, (given) => {
      try {
        const { subject, text, html } = renderEmail(given);
        seen.count("rendered");
        expect([...subject].length).toBeLessThanOrEqual(100);
        for (const part of [subject, text, html]) {
          isClean(part);
          // 20 KiB of SES's 40 MiB: no value, however long, makes an email too large.
          expect(Buffer.byteLength(part)).toBeLessThan(20 * 1024);
        }
        expect(subject).not.toContain("\n");
        expect(skeletons.has(elements(html).join("")), html).toBe(true);
        expect(text.split("\n").length).toBeLessThanOrEqual(13);
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        seen.count("refused");
        expect(error.code).toMatch(/^(NoTemplate|InvalidShipment)$/);
        expect([...error.message].length).toBeLessThan(100);
        expect(error.message).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        if (error.code === "InvalidShipment") expect(isPlainReason(error.message, 60)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(20);
});

test("any values make a text message of three segments at most, and a webhook's two clean lines", () => {
  fc.assert(
    fc.property(request, (given) => {
      fc.pre(templates.some((name) => name === given.template) && !Number.isNaN(+given.shipment.occurredAt));
      const sms = renderSms(given);
      expect(segmentsOf(sms).segments).toBeLessThanOrEqual(3);
      const { title, text } = renderWebhook(given);
      expect([...title].length).toBeLessThanOrEqual(100);
      expect([...text].length).toBeLessThanOrEqual(1_500);
      for (const part of [sms, title, text]) {
        isClean(part);
        expect(part).not.toContain("\n");
      }
    }),
    { numRuns: 200 },
  );
});

test("any language tag gives a language there is, and a tag that dates can be written by", () => {
  fc.assert(
    fc.property(tag, (locale) => {
      const { language, formats } = choose({ template: "delivered", locale }, (of) => of.tag);
      expect([...languages().values()]).toContain(language);
      expect(() => new Intl.DateTimeFormat(formats)).not.toThrow();
      expect(formats.length).toBeLessThanOrEqual(100);
    }),
    { numRuns: 300 },
  );
});

test("what is long costs no more than others", () => {
  const subtags = Array.from({ length: 20_000 }, (_, at) => `v${String(at).padStart(6, "0")}`).join("-");
  for (const text of [...longTexts(), `en-${subtags}`, "a_".repeat(200_000)]) {
    const merchant = { id: "m", name: text, trackingUrl: `https://t.example/${text}` };
    const shipment = { id: "s", trackingNumber: text, status: text, occurredAt: new Date() };
    expect(
      cost(() => choose({ template: "delivered", locale: text }, (of) => of.tag)),
      text.slice(0, 4),
    ).toBeLessThan(100);
    const long = aRequest({ name: text, locale: text, timeZone: text, merchant, shipment });
    for (const render of [renderEmail, renderSms, renderWebhook])
      expect(
        cost(() => render(long)),
        text.slice(0, 4),
      ).toBeLessThan(200);
    expect(() => renderEmail(aRequest({ template: text })), text.slice(0, 4)).toThrow(
      /^NoTemplate: .{0,100}$/u,
    );
  }
});
