import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkTemplates } from "./check.ts";
import { fileTags } from "./check-files.ts";
import { checkEmail } from "./check-message.ts";
import { renderEmail } from "./email.ts";
import type { Language } from "./language.ts";
import { languages } from "./languages.ts";
import * as locales from "./locales/index.ts";
import { sampleRequest } from "./sample.ts";

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url));

test("the templates have no fault, and nothing in them is left untranslated", () => {
  expect(checkTemplates()).toEqual([]);
});

test("each language file is listed, under its own tag", () => {
  const files = readdirSync(folder("locales")).filter((name) => name.endsWith(".json"));
  expect(files.sort()).toEqual(
    Object.values(locales)
      .map(({ tag }) => `${tag}.json`)
      .sort(),
  );
});

test("a language file that is not listed", () => {
  const lying = ["ar", "de", "en", "fr", "it"];
  expect(checkTemplates({ files: Object.values(locales), lying })).toEqual([
    expect.objectContaining({ severity: "error", where: "it.json", rule: "unlisted" }),
  ]);
  expect(fileTags().sort()).toEqual(Object.keys(locales).sort());
});

test("the rules that a new ledger begins with name templates that there are", () => {
  const migrations = folder("../../../../migrations/");
  const used = readdirSync(migrations)
    .filter((name) => name.endsWith(".sql"))
    .flatMap((name) => [
      ...readFileSync(migrations + name, "utf8").matchAll(
        /\('(\w+)', +'(?:buyer|merchant|agent|warehouse)', +'([\w.]+)', +\d/g,
      ),
    ])
    .map(([, , template = ""]) => template);
  expect(used).toContain("customs_hold.still");
  expect(checkTemplates({ used })).toEqual([]);
});

/** A language's file, with one text changed; `undefined` leaves it out. */
function changed(tag: string, path: string, value: unknown): unknown[] {
  const file: unknown = structuredClone(languages().get(tag));
  const keys = path.split("/");
  const last = keys.pop() ?? "";
  let inner = file;
  for (const key of keys) inner = Reflect.get(Object(inner), key);
  Reflect.set(Object(inner), last, value);
  return [...new Set(["en", tag, ...(value === "fr" ? ["fr"] : [])])].map((other) =>
    other === tag ? file : languages().get(other),
  );
}

const subject = "templates/delivered/email/subject";
const sms = "templates/delivered/sms/buyer";

test.for<[string, string, string, unknown, string, string]>([
  [
    "error",
    "en",
    subject,
    "Parcel {{ pracel }} is here: {{ parcel }}",
    "unknown-variable",
    "names {{ pracel }}",
  ],
  ["error", "en", subject, "Your parcel is here", "missing-variable", "must name {{ parcel }}"],
  ["error", "de", sms, "{{ merchant }}: Ihr Paket ist da.", "missing-variable", "must name {{ parcel }}"],
  ["error", "de", "email/greeting", "Guten Tag,", "missing-variable", "must name {{ name }}"],
  ["error", "de", "sms/track", "Hier verfolgen", "missing-variable", "must name {{ link }}"],
  [
    "error",
    "en",
    "templates/delivered/webhook/title",
    "Delivered",
    "missing-variable",
    "must name {{ parcel }}",
  ],
  [
    "error",
    "en",
    subject,
    "{{ name }}, {{ parcel }} is here",
    "misplaced-variable",
    "use {{ parcel }}, {{ merchant }}",
  ],
  ["error", "en", "email/track", "Track {{ parcel }}", "misplaced-variable", "use none"],
  ["error", "fr", subject, "Le colis {{ parcel } est là", "syntax", "can't be read"],
  ["error", "fr", subject, "{% if parcel %}{{ parcel }}{% endif %}", "syntax", "can't be read"],
  ["error", "fr", subject, "Colis {{ parcel | upcase }}", "syntax", "can't be read"],
  ["error", "en", "sms/track", "Track it: {{ link }}.", "link-end", "put a space"],
  ["error", "en", "templates/delivered/email/buyer", "It <b>is</b> here", "markup", "plain text"],
  ["error", "en", "templates/delivered/email/buyer", "Bed &amp; bath", "markup", "plain text"],
  ["error", "en", "templates/delivered/email/buyer", "It is\nhere", "control", "one line"],
  ["error", "ar", subject, "\u2067سُلّمت {{ parcel }}\u2069", "bidi-control", "invisible character"],
  ["error", "ar", subject, "سُلّمت\u200f {{ parcel }}", "bidi-control", "invisible character"],
  ["error", "ar", subject, "Parcel {{ parcel }} delivered", "direction", 'says "dir": "rtl"'],
  ["error", "en", subject, "سُلّمت {{ parcel }}", "direction", 'says "dir": "ltr"'],
  ["error", "ar", "dir", "ltr", "direction", "is written rtl"],
  [
    "error",
    "en",
    subject,
    `Parcel {{ parcel }} ${"is here ".repeat(9)}`,
    "length",
    "more than 100 characters",
  ],
  [
    "error",
    "de",
    sms,
    `{{ merchant }} {{ parcel }} ${"ist da ".repeat(20)}`,
    "length",
    "to a buyer is too long",
  ],
  [
    "error",
    "fr",
    "templates/delivered/sms/staff",
    `{{ merchant }} {{ parcel }} ${"ê".repeat(80)}`,
    "length",
    "to a colleague",
  ],
  ["error", "ar", sms, `{{ merchant }} {{ parcel }} ${"وصل ".repeat(25)}`, "length", "too long"],
  [
    "error",
    "en",
    "templates/delivered/webhook/title",
    `{{ parcel }} ${"is here ".repeat(9)}`,
    "length",
    "a title of more",
  ],
  ["error", "en", sms, undefined, "missing", "is missing"],
  ["error", "en", "webhook", undefined, "missing", "is missing"],
  ["warning", "de", sms, undefined, "missing", "said in English"],
  ["warning", "de", "templates/delivered/webhook", undefined, "missing", "said in English"],
  ["warning", "de", "templates/delivered", {}, "missing", "said in English"],
  ["warning", "de", "sms", undefined, "missing", "said in English"],
  ["error", "de", "templates/delivered/email/sujbect", "x", "file", "sujbect"],
  ["error", "de", "templates/deliverd", {}, "file", "deliverd"],
  ["error", "de", subject, "", "file", "Invalid length"],
  ["error", "de", subject, 7, "file", "Expected string"],
  ["error", "de", "tag", "de_AT", "file", "BCP 47"],
  ["error", "de", "tag", "fr", "file", "is there twice"],
  ["error", "en", "tag", "en-US", "missing", "has no en.json"],
])("%s: in %s, %s as %j is found as %s: %s", ([severity, tag, path, value, rule, message]) => {
  const found = checkTemplates({ files: changed(tag, path, value) });
  expect(found.length).toBeGreaterThan(0);
  expect(found).toContainEqual(
    expect.objectContaining({ severity, rule, message: expect.stringContaining(message) }),
  );
  // One mistake is no avalanche: nothing else is said to be wrong.
  expect(new Set(found.map((finding) => finding.rule))).toEqual(new Set([rule]));
});

test("a rule's template that there is not", () => {
  expect(checkTemplates({ used: ["delivered", "deliverd", "deliverd"] })).toEqual([
    expect.objectContaining({ severity: "error", where: "deliverd", rule: "unknown-template" }),
  ]);
});

const en: Language | undefined = languages().get("en");
test.for<[string, (email: { text: string; html: string }) => object, string]>([
  ["a text without the parcel", ({ text }) => ({ text: text.replaceAll("RR123456785AT", "") }), "parts"],
  ["HTML without the merchant", ({ html }) => ({ html: html.replaceAll("Nordlicht Möbel", "") }), "parts"],
  ["HTML without the link", ({ html }) => ({ html: html.replaceAll("https://", "") }), "parts"],
  ["no HTML", () => ({ html: "" }), "parts"],
  [
    "a value in no isolate",
    ({ html }) => ({ html: html.replace("<bdi>RR123456785AT</bdi>", "RR123456785AT") }),
    "isolation",
  ],
  ["HTML without its direction", ({ html }) => ({ html: html.replace(' dir="ltr"', "") }), "direction"],
])("an email with %s", ([, damage, rule]) => {
  if (!en) throw new Error("no English");
  const request = sampleRequest();
  const email = renderEmail(request);
  expect(checkEmail(email, request, en)).toEqual([]);
  const rules = checkEmail({ ...email, ...damage(email) }, request, en).map((fault) => fault.rule);
  expect(rules).toContain(rule);
});
