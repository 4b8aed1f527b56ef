import type { Locale } from "../locale.ts";
import { ar } from "./ar.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import { fr } from "./fr.ts";

/** The languages there are, by tag. A new one is a module and a line here. */
export const locales: ReadonlyMap<string, Locale> = new Map([ar, de, en, fr].map((l) => [l.tag, l]));

export const defaultLocale = en;
