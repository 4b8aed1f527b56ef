import { endOfTemplate } from "./sql/tokens.ts";

/** The text of one tagged template, and where it begins in its file. */
export type Template = { text: string; start: number };

/** Every sql`…` of a TypeScript file, those inside of others as well. */
export function templatesOf(source: string): Template[] {
  const found: Template[] = [];
  // A type argument may stand between the tag and its text, and has brackets, braces and quotes of its own.
  for (const { index, 0: tag } of source.matchAll(/\bsql(?:<[^`]*?>)?`/g)) {
    const start = index + tag.length;
    found.push({ start, text: source.slice(start, endOfTemplate(source, start) - 1) });
  }
  return found;
}
