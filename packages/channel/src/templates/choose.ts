import { defaultLocale, locales } from "./email/index.ts";
import type { Locale } from "./locale.ts";

/** Characters; RFC 5646 section 4.4.1 asks for 35. A longer tag would be looked up subtag by subtag. */
const longestTag = 100;

/**
 * The language for a BCP 47 tag (RFC 4647 lookup): `de-AT` is tried first, then `de`, then the default.
 * @returns the language and the tag for dates and numbers: the recipient's own where it is of that language.
 *   A malformed or unknown tag gives the default.
 */
export function chooseLocale(tag: string): { locale: Locale; formats: string } {
  const wanted = baseName(tag);
  for (let range = wanted; range !== ""; range = range.slice(0, Math.max(range.lastIndexOf("-"), 0))) {
    const locale = locales.get(range);
    if (locale) return { locale, formats: wanted };
  }
  return { locale: defaultLocale, formats: defaultLocale.tag };
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
