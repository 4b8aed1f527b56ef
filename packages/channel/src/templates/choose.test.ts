import { expect, test } from "vitest";
import { aRequest } from "../email/fixtures.ts";
import { renderEmail, renderSms, renderWebhook } from "./index.ts";
import type { Language } from "./language.ts";
import { languages } from "./languages.ts";

const given = (tag: string): Language => {
  const language = languages().get(tag);
  if (!language) throw new Error(`no ${tag}`);
  return language;
};
const { en, de } = { en: given("en"), de: given("de") };
const { customs_hold: hold } = de.templates;

/** German as it is in Austria, as far as somebody has written it. */
const austrian = (change: Partial<Language>) =>
  new Map([en, de, { ...de, tag: "de-AT", templates: {}, ...change }].map((l) => [l.tag, l]));
const email = { subject: "Packerl {{ parcel }} liegt beim Zoll", buyer: "Zoll!", staff: "Zoll, bitte!" };

test.for<[string, Partial<Language>, string, string, "buyer" | "agent"]>([
  ["its own", { templates: { customs_hold: { email } } }, "de-AT", "Packerl", "buyer"],
  ["a longer tag's", { templates: { customs_hold: { email } } }, "de-AT-1996", "Packerl", "buyer"],
  ["another region's base", { templates: { customs_hold: { email } } }, "de-CH", "Paket", "buyer"],
  ["its base's, without the template", {}, "de-AT", "Paket", "buyer"],
  [
    "its base's, without the channel",
    { templates: { customs_hold: { sms: hold?.sms } } },
    "de-AT",
    "Paket",
    "buyer",
  ],
  [
    "its base's, without the frame",
    { email: undefined, templates: { customs_hold: { email } } },
    "de-AT",
    "Paket",
    "buyer",
  ],
  [
    "its base's, without the text",
    { templates: { customs_hold: { email: { ...email, staff: undefined } } } },
    "de-AT",
    "Paket",
    "agent",
  ],
  [
    "its own, without another's text",
    { templates: { customs_hold: { email: { ...email, staff: undefined } } } },
    "de-AT",
    "Packerl",
    "buyer",
  ],
  ["English", {}, "ja", "Parcel", "buyer"],
])("the language is %s", ([, change, locale, word, role]) => {
  const { subject, html } = renderEmail(aRequest({ locale, role }), austrian(change));
  expect(subject.startsWith(`${word} `)).toBe(true);
  // One message is all in one language, its greeting, labels and direction with it.
  const lang = { Packerl: "de-AT", Paket: "de", Parcel: "en" }[word];
  expect(html).toContain(`lang="${lang}"`);
});

test("a language without a text of a channel says that one in English, and the others itself", () => {
  const { sms: _, ...rest } = hold ?? {};
  const known = new Map(
    [en, { ...de, webhook: undefined, templates: { customs_hold: rest } }].map((l) => [l.tag, l]),
  );
  const request = aRequest({ locale: "de" });
  expect(renderEmail(request, known).subject).toMatch(/^Paket /);
  expect(renderSms(request, known)).toContain("customs is checking");
  expect(renderWebhook(request, known).title).toMatch(/^Parcel /);
});

test("a tag that begins like a language's is not of it", () => {
  expect(renderEmail(aRequest({ locale: "den" })).text).toContain("March 12, 2026");
});
