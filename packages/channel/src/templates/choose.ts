import { RefusedError } from "../errors.ts";
import { line } from "../text.ts";
import type { Language } from "./language.ts";
import { defaultTag, type Languages, languages } from "./languages.ts";
import { isTemplateName, type TemplateName } from "./names.ts";

/** Characters; RFC 5646 section 4.4.1 asks for 35. A longer tag would be looked up subtag by subtag. */
const longestTag = 100;

export type Chosen<Texts> = {
  language: Language;
  texts: Texts;
  /** The tag for dates and numbers: the recipient's own where it is of that language. */
  formats: string;
};

/**
 * The texts of one message, all in one language (RFC 4647 lookup): for `de-AT` that is `de-AT`, else `de`, else
 * English. A malformed or unknown tag gives English.
 * @param pick a language's texts for the template; null where one of those it needs is missing
 * @param known the languages to choose from
 * @throws RefusedError `NoTemplate` for a template that does not exist
 */
export function choose<Texts>(
  { template, locale }: { template: string; locale: string },
  pick: (language: Language, template: TemplateName) => Texts | null,
  known: Languages = languages(),
): Chosen<Texts> {
  if (!isTemplateName(template)) {
    throw new RefusedError("NoTemplate", `no template "${line(String(template), 64)}"`);
  }
  const wanted = baseName(locale);
  for (const tag of [...ranges(wanted), defaultTag]) {
    const language = known.get(tag);
    const texts = language && pick(language, template);
    if (texts) return { language, texts, formats: isOf(wanted, tag) ? wanted : tag };
  }
  throw new RefusedError("NoTemplate", `no text of "${template}" on this channel`);
}

const isOf = (wanted: string, tag: string): boolean => wanted === tag || wanted.startsWith(`${tag}-`);

/** `de-Latn-AT`, `de-Latn`, `de`. */
function ranges(tag: string): string[] {
  const subtags = tag === "" ? [] : tag.split("-");
  return subtags.map((_, at) => subtags.slice(0, subtags.length - at).join("-"));
}

/** The canonical tag without extensions; POSIX's `de_AT` is understood. Empty for what is no tag. */
function baseName(tag: string): string {
  if (tag.length > longestTag) return "";
  try {
    return new Intl.Locale(tag.replaceAll("_", "-")).baseName;
  } catch {
    return "";
  }
}
