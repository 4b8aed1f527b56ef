import type { SendRequest } from "../channel.ts";
import { line } from "../text.ts";
import { choose } from "./choose.ts";
import type { Language } from "./language.ts";
import type { Languages } from "./languages.ts";
import { htmlLayout, textLayout } from "./layout.ts";
import { inHtml, inPage, inText } from "./liquid.ts";
import type { TemplateName } from "./names.ts";
import { valuesOf } from "./values.ts";

export type Email = { subject: string; text: string; html: string };

/** Code points. */
export const longestSubject = 100;

/**
 * The email of one notification, in the recipient's language. Every value is cleaned to one line first.
 * @param known the languages to choose from; those there are, if it is left out
 * @throws RefusedError: `NoTemplate` for a template that does not exist, `InvalidShipment` for a time that is none.
 */
export function renderEmail(request: SendRequest, known?: Languages): Email {
  const reader = request.role === "buyer" ? "buyer" : "staff";
  const pick = (of: Language, template: TemplateName) => {
    const message = of.templates[template]?.email;
    const body = message?.[reader];
    return of.email && message?.subject && body ? { ...of.email, subject: message.subject, body } : null;
  };
  const { language, texts, formats } = choose(request, pick, known);
  const values = valuesOf(request, formats);
  // Only a buyer is a person we talk to; the others read a line in a shared inbox.
  const greeting = values.name ? texts.greeting : texts.greetingWithoutName;
  const parts = {
    greeting: reader === "buyer" ? greeting : "",
    body: texts.body,
    footer: texts.footer,
  };
  const subject = line(inText(texts.subject, values), longestSubject);
  const { labels, track } = texts;
  const frame = { ...values, subject, lang: language.tag, dir: language.dir, labels, track };
  const filled = (fill: typeof inText) =>
    Object.fromEntries(Object.entries(parts).map(([key, source]) => [key, fill(source, values)]));
  return {
    subject,
    text: inText(textLayout, { ...frame, ...filled(inText) }),
    html: inPage(htmlLayout, { ...frame, ...filled(inHtml) }),
  };
}
