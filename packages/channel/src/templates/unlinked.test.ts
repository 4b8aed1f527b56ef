import fc from "fast-check";
import { expect, test } from "vitest";
import { aRequest } from "../email/fixtures.ts";
import { renderEmail, renderSms, renderWebhook } from "./index.ts";
import { looksLikeContact, withoutLinks } from "./unlinked.ts";

const contacts = [
  ["http://evil.example", "http evil example"],
  ["HTTPS://EVIL.EXAMPLE/a?b", "HTTPS EVIL EXAMPLE a?b"],
  ["Win: www.evil.example", "Win www evil example"],
  ["evil.example/x", "evil example x"],
  ["ana@evil.example", "ana evil example"],
  ["Ana (evil.co)", "Ana (evil co)"],
  ["//evil", "evil"],
  ["\\\\evil\\share", "evil share"],
  ["mailto:ana", "mailto ana"],
  ["javascript:alert", "javascript alert"],
  ["192.0.2.7", "192 0 2 7"],
  ["evil\u200b.example", "evil example"],
  ["evil\u00ad.exa\u2060mple", "evil example"],
  ["evil。example", "evil example"],
  ["ｅｖｉｌ．ｅｘａｍｐｌｅ", "evil example"],
  ["ana＠evil", "ana evil"],
  ["пример.рф", "пример рф"],
  ["ex.xn--p1ai", "ex xn--p1ai"],
] as const;

test.for(contacts)("%j is used in no greeting, and shown as %j", ([given, shown]) => {
  expect(looksLikeContact(given)).toBe(true);
  expect(withoutLinks(given)).toBe(shown);
  const merchant = { id: "m", name: given, trackingUrl: null };
  const request = aRequest({ name: given, merchant });
  const { text, html } = renderEmail(request);
  expect(text).toMatch(/^Hello,\n/);
  expect(text).toContain(`Sender: ${shown}\n`);
  for (const part of [text, html, renderSms(request), renderWebhook(request).text])
    expect(part).not.toContain(given);
});

test.for([
  "Ana Lind",
  "Dr. Ana Lind",
  "J. R. R. Tolkien",
  "Ana M.",
  "O'Neil, Sean",
  "Жанна",
  "山田・太郎",
  "محمد",
  "Shop 24",
  "Baby & Co. KG",
  "S.A.R.L. Dupont",
  "50/50",
])("%j is a name", (name) => {
  expect(looksLikeContact(name)).toBe(false);
  expect(withoutLinks(name)).toBe(name);
});

const bits = [
  "evil",
  "example",
  ".",
  "。",
  "․",
  "/",
  ":",
  "@",
  "\\\\",
  "www.",
  "http://",
  "\u200b",
  "\u00ad",
  " ",
  "é",
  "℀",
  "⒈",
  "-",
];
test("nothing that is shown is a link, however it was put together", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...bits), { maxLength: 9 }), (parts) => {
      expect(looksLikeContact(withoutLinks(parts.join("")))).toBe(false);
    }),
    { numRuns: 500 },
  );
});

test("a telephone number is no name to greet", () => {
  for (const name of ["+43 900 123456", "call ٠٩٠٠١٢٣"]) expect(looksLikeContact(name)).toBe(true);
});

test("a tracking number becomes no link either", () => {
  const shipment = { ...aRequest().shipment, trackingNumber: "evil.example/x" };
  expect(renderEmail(aRequest({ shipment })).subject).toBe("Parcel evil example x is held at customs");
});
