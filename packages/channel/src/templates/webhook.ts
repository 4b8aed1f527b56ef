import type { SendRequest } from "../channel.ts";
import { line } from "../text.ts";
import { choose } from "./choose.ts";
import { longestSubject } from "./email.ts";
import type { Language } from "./language.ts";
import type { Languages } from "./languages.ts";
import { inText } from "./liquid.ts";
import type { TemplateName } from "./names.ts";
import { valuesOf } from "./values.ts";

/**
 * One notification in the words of a merchant's inbox: plain text, in the recipient's language.
 * @param known the languages to choose from; those there are, if it is left out
 * @throws RefusedError as `renderEmail` does.
 */
export function renderWebhook(request: SendRequest, known?: Languages): { title: string; text: string } {
  const pick = (of: Language, template: TemplateName) => {
    const { title, text } = of.templates[template]?.webhook ?? {};
    return of.webhook && title && text ? { ...of.webhook, title, text } : null;
  };
  const { texts, formats } = choose(request, pick, known);
  const values = valuesOf(request, formats);
  const sentences = values.link ? [texts.text, texts.track] : [texts.text];
  return {
    title: line(inText(texts.title, values), longestSubject),
    text: sentences.map((sentence) => inText(sentence, values)).join(" "),
  };
}
