import * as v from "valibot";
import { type Language, languageSchema } from "./language.ts";
import * as files from "./locales/index.ts";

export const defaultTag = "en";

export type Languages = ReadonlyMap<string, Language>;

let known: Languages | undefined;

/** The languages there are, by tag. Read at the first use: importing this costs next to nothing. */
export function languages(): Languages {
  known ??= new Map(
    Object.values(files).map((file) => {
      const language = v.parse(languageSchema, file);
      return [language.tag, language];
    }),
  );
  return known;
}
