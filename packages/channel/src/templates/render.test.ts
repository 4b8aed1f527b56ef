import { describe, expect, test } from "vitest";
import { aRequest } from "../email/fixtures.ts";
import { renderEmail } from "./index.ts";
import { languages } from "./languages.ts";
import { templateNames, templates } from "./names.ts";

const roles = ["buyer", "merchant", "agent", "warehouse"] as const;

describe.for([...languages().values()])("in $tag", (locale) => {
  test.for(templates)("%s", (template) => {
    for (const role of roles) {
      const { subject, text, html } = renderEmail(aRequest({ template, role, locale: locale.tag }));
      expect(subject).toBe(
        locale.templates[template]?.email?.subject?.replace("{{ parcel }}", "RR123456785AT"),
      );
      for (const part of [subject, text, html]) {
        expect(part).not.toMatch(/undefined|null|NaN|\[object|\{\{|\{%/);
        expect(part).toContain("RR123456785AT");
      }
      expect(html).toContain(`<html lang="${locale.tag}" dir="${locale.dir}">`);
      expect(text).toContain("Nordlicht Möbel");
      expect(text.includes("Ana Lind"), "only the buyer is greeted by name").toBe(role === "buyer");
      expect(html.includes("Ana Lind")).toBe(role === "buyer");
      expect(text).toBe(`${text.trim()}\n`);
    }
  });

  test("no two emails say the same", () => {
    const subjects = templates.map(
      (template) => renderEmail(aRequest({ template, locale: locale.tag })).subject,
    );
    const bodies = templates.flatMap((template) =>
      (["buyer", "agent"] as const).map(
        (role) => renderEmail(aRequest({ template, role, locale: locale.tag })).text,
      ),
    );
    expect(new Set(subjects).size).toBe(templates.length);
    expect(new Set(bodies).size).toBe(templates.length * 2);
  });
});

test("a language has all of the templates, and the names are known", () => {
  for (const { templates } of languages().values())
    expect(new Set(Object.keys(templates))).toEqual(templateNames);
  expect([...languages().keys()].sort()).toEqual(["ar", "de", "en", "fr"]);
  expect(templateNames.has("customs_hold.still")).toBe(true);
});

test.for([
  ["de-AT", "Paket", "12. März 2026 um 14:05 UTC"],
  ["de_AT", "Paket", "12. März 2026"],
  ["DE-at-u-co-phonebk", "Paket", "12. März 2026"],
  ["de-Latn-CH-1996", "Paket", "12. März 2026"],
  ["fr-CA", "Le colis", "12 mars 2026"],
  ["ar-EG", "الشحنة", "٢٠٢٦"],
  ["en-GB", "Parcel", "12 March 2026 at 14:05 UTC"],
  ["ja", "Parcel", "March 12, 2026 at 02:05 PM UTC"],
  ["", "Parcel", "March 12, 2026"],
  ["__proto__", "Parcel", "March 12, 2026"],
  ["de\r\nX: y", "Parcel", "March 12, 2026"],
] as const)("locale %j speaks of %s, and writes %s", ([locale, word, time]) => {
  const { subject, text } = renderEmail(aRequest({ locale }));
  expect(subject.startsWith(word)).toBe(true);
  expect(text).toContain(time);
});

test("a buyer whose name is not known is greeted all the same", () => {
  for (const name of [null, "", " \r\n"]) expect(renderEmail(aRequest({ name })).text).toMatch(/^Hello,\n/);
});

test("an empty tracking number or merchant leaves no hole", () => {
  const shipment = { ...aRequest().shipment, trackingNumber: "\u0000" };
  const { subject, text } = renderEmail(
    aRequest({ shipment, merchant: { id: "m", name: "", trackingUrl: null } }),
  );
  expect(subject).toBe("Parcel — is held at customs");
  expect(text).toContain("Sender: —");
});

test("a subject has at most 100 code points", () => {
  const shipment = { ...aRequest().shipment, trackingNumber: "📦".repeat(300) };
  const { subject } = renderEmail(aRequest({ shipment, template: "delivery_exception" }));
  expect([...subject]).toHaveLength(100);
  expect(subject).toMatch(/^Parcel 📦+… could not b…$/u);
});

test("values are escaped in HTML, isolated from the sentence's direction, and never run as a template", () => {
  const { html, text } = renderEmail(aRequest({ name: `<b>"O'Neil" & {{ merchant }}</b>` }));
  expect(html).toContain("<bdi>&#60;b&#62;&#34;O&#39;Neil&#34; &#38; {{ merchant }}&#60;/b&#62;</bdi>");
  expect(text).toContain(`Hello <b>"O'Neil" & {{ merchant }}</b>,`);
});
