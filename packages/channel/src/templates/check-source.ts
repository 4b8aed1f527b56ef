import type { Language } from "./language.ts";
import { variablesOf } from "./liquid.ts";
import type { Place } from "./places.ts";
import { variables } from "./values.ts";

/** A rule that a text broke, and what to do about it. */
export type Fault = { rule: string; message: string };

const known: readonly string[] = variables;
const bidiControl = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;

/** What is wrong with one text as it stands in its file. */
export function checkSource({ source, may, must }: Place, dir: Language["dir"]): Fault[] {
  const faults: Fault[] = [];
  const found = (rule: string, message: string) => faults.push({ rule, message });
  if (bidiControl.test(source))
    found("bidi-control", "has an invisible character that turns the direction of writing: type it anew");
  if (/\p{Cc}/u.test(source))
    found("control", "has a line break or another control character: write one line");
  if (/<[a-z/!]|&#?\w+;/i.test(source)) found("markup", "has HTML in it: write plain text, it is escaped");
  if (directionOf(source) !== null && directionOf(source) !== dir)
    found("direction", `is written ${directionOf(source)}, but the file says "dir": "${dir}"`);

  const used = read(source);
  if (used === null) {
    found(
      "syntax",
      "can't be read: a variable is written {{ parcel }}, and {% … %} and filters are not used",
    );
    return faults;
  }
  for (const name of used.filter((name) => !known.includes(name)))
    found("unknown-variable", `names {{ ${name} }}, which there is not: use ${listed(may)}`);
  for (const name of known.filter((name) => used.includes(name) && !may.some((one) => one === name)))
    found("misplaced-variable", `names {{ ${name} }}, which does not go here: use ${listed(may)}`);
  for (const name of must.filter((name) => !used.includes(name)))
    found("missing-variable", `must name {{ ${name} }}`);
  if (/\{\{ *link *\}\}(?!\s|$)/.test(source))
    found(
      "link-end",
      "has something right behind {{ link }}, which would be taken for a part of it: put a space",
    );
  return faults;
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? "none" : names.map((name) => `{{ ${name} }}`).join(", ");

/** The variables, or null for what is no text with variables. */
function read(source: string): string[] | null {
  if (/[{}]/.test(source.replace(/\{\{ *[a-z_]+ *\}\}/gi, ""))) return null;
  return variablesOf(source);
}

/** By the letters that are its own, not a variable's; null for a text without any. */
function directionOf(source: string): Language["dir"] | null {
  const own = source.replace(/\{\{.*?\}\}/g, "");
  const letters = own.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return null;
  return (own.match(rightToLeft)?.length ?? 0) * 2 >= letters ? "rtl" : "ltr";
}
