import type { SendRequest } from "../channel.ts";
import type { Fault } from "./check-source.ts";
import { type Email, longestSubject, renderEmail } from "./email.ts";
import type { Language } from "./language.ts";
import type { TemplateName } from "./names.ts";
import { sampleRequest } from "./sample.ts";
import { fits, renderSms } from "./sms.ts";
import { valuesOf } from "./values.ts";
import { renderWebhook } from "./webhook.ts";

/** The longest values that are shown whole: 40 characters of a number, 30 of a name. */
const long = {
  shipment: { ...sampleRequest().shipment, trackingNumber: "9".repeat(40) },
  merchant: { ...sampleRequest().merchant, name: "Möbelhaus".padEnd(30, "x") },
};

/** What is wrong with a message of a channel as it goes out. */
export function checkMessage(
  channel: "email" | "sms" | "webhook",
  language: Language,
  template: TemplateName,
): Fault[] {
  const known = new Map([[language.tag, language]]);
  if (channel === "webhook") {
    const request = sampleRequest({ template, locale: language.tag, ...long });
    return checkTitle("title", renderWebhook(request, known).title);
  }
  return (["buyer", "agent"] as const).flatMap((role) => {
    const request = sampleRequest({ template, locale: language.tag, role, ...long });
    if (channel === "sms") return checkSms(renderSms(request, known), role);
    const email = renderEmail(request, known);
    return [...checkTitle("subject", email.subject), ...checkEmail(email, request, language)];
  });
}

function checkSms(text: string, role: string): Fault[] {
  if (fits(text)) return [];
  const message = `to a ${role === "buyer" ? "buyer" : "colleague"} is too long with a long parcel number: ${[...text].length} characters, where one SMS has 160 (two have 134 where it has a letter beyond the GSM alphabet)`;
  return [{ rule: "length", message }];
}

const checkTitle = (what: string, text: string): Fault[] => {
  const message = `has a ${what} of more than ${longestSubject} characters with long values`;
  return text.endsWith("…") ? [{ rule: "length", message }] : [];
};

/** Both bodies say the same, and the page says its language and keeps every value apart from the sentence around it. */
export function checkEmail({ text, html }: Email, request: SendRequest, { tag, dir }: Language): Fault[] {
  const faults: Fault[] = [];
  const values = Object.entries(valuesOf(request, tag)).filter(
    ([name]) => name !== "name" || request.role === "buyer",
  );
  for (const [name, value] of values) {
    for (const [part, body] of [["text", text] as const, ["HTML", html] as const])
      if (!body.includes(value))
        faults.push({ rule: "parts", message: `does not say {{ ${name} }} in its ${part}` });
    if (name !== "link" && html.split(value).length - 1 !== spoken(html, value))
      faults.push({ rule: "isolation", message: `does not keep {{ ${name} }} apart (<bdi>) in its HTML` });
  }
  if (!html.includes(`<html lang="${tag}" dir="${dir}">`))
    faults.push({ rule: "direction", message: `has HTML without lang="${tag}" dir="${dir}"` });
  return faults;
}

/** How often a page has a value in an isolate, in its title (which can have none), or in its link. */
const spoken = (html: string, value: string): number =>
  html.split(`<bdi>${value}</bdi>`).length -
  1 +
  (html.match(/<title>.*?<\/title>|href=".*?"/g) ?? []).reduce(
    (sum, part) => sum + part.split(value).length - 1,
    0,
  );
