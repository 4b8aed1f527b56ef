import { describe, expect, test } from "vitest";
import { aRequest } from "../email/fixtures.ts";
import { segmentsOf } from "../sms/segments.ts";
import { isGsm, septets, toGsm } from "./gsm.ts";
import { languages } from "./languages.ts";
import { templates } from "./names.ts";
import { fits, renderSms } from "./sms.ts";

const shop = (name: string, trackingUrl: string | null = null) => ({ id: "m", name, trackingUrl });

describe.for([...languages().keys()])("in %s", (locale) => {
  test.for(templates)("%s says the parcel and the merchant in what one may cost", (template) => {
    for (const role of ["buyer", "agent"] as const)
      for (const [name, trackingNumber] of [
        ["Nordlicht Möbel", "RR123456785AT"],
        ["Łódzki Dom Mebli i Wyposażenia", "9".repeat(64)],
      ] as const) {
        const shipment = { ...aRequest().shipment, trackingNumber };
        const text = renderSms(aRequest({ template, locale, role, shipment, merchant: shop(name) }));
        expect(text).toContain(trackingNumber.slice(0, 38));
        expect(text).toMatch(/Nordlicht Möbel|[ŁL][óo]dzki Dom Mebli i\.\./);
        expect(fits(text), text).toBe(true);
        expect(isGsm(text), text).toBe(locale !== "ar");
      }
  });
});

test("the link and the way to opt out are there where they fit", () => {
  const of = (trackingUrl: string) =>
    renderSms(aRequest({ template: "delivered", merchant: shop("Shop", trackingUrl) }));
  const body = "Shop: your parcel RR123456785AT has been delivered. Enjoy it!";
  const stop = "Reply STOP to opt out.";
  expect(of("https://t.example")).toBe(`${body} Track it: https://t.example/ ${stop}`);
  const tooLongForBoth = `https://t.example/${"a".repeat(60)}`;
  expect(of(tooLongForBoth)).toBe(`${body} Track it: ${tooLongForBoth}`);
  expect(of(`https://t.example/${"a".repeat(90)}`)).toBe(`${body} ${stop}`);
});

test("a merchant's name that the GSM alphabet has not makes the whole message UCS-2, and no longer than it must be", () => {
  const text = renderSms(aRequest({ template: "delivered", merchant: shop("京东商城") }));
  expect(text).toMatch(/^京东商城: your parcel RR123456785AT has been delivered\./);
  expect([isGsm(text), fits(text)]).toEqual([false, true]);
});

test.for([
  ["Łódź “Dom” – Đà Nẵng…", 'Lodz "Dom" - Dà Nang..'],
  ["Möbel ñ Ç €", "Möbel ñ Ç €"],
  ["Françoise Forêt", "Francoise Foret"],
  ["京东", "京东"],
  ["e\u0301", "é"],
] as const)("%s is written %s in the GSM alphabet", ([given, written]) => {
  expect(toGsm(given)).toBe(written);
});

test("the alphabet is the one that segments are counted by", () => {
  for (let unit = 0x20; unit < 0x500; unit += 1) {
    const character = String.fromCharCode(unit);
    expect([character, isGsm(character)]).toEqual([character, segmentsOf(character).encoding === "GSM-7"]);
  }
  for (const text of ["€".repeat(81), "a".repeat(161), `${"a".repeat(159)}~`])
    expect([septets(text) > 160, segmentsOf(text).segments]).toEqual([true, 2]);
});

test("characters of the extension count twice", () => {
  expect(fits("€".repeat(80))).toBe(true);
  expect(fits("€".repeat(81))).toBe(false);
});
