import { type Change, quote } from "../change.ts";
import { endOfString, endOfTemplate } from "../sql/tokens.ts";

/** The source with every comment, string and template blanked out, so that signs in them are not taken for code. */
export function blank(source: string): string {
  let code = "";
  for (let at = 0; at < source.length; ) {
    const end = endOfText(source, at);
    code += end > at ? source.slice(at, end).replaceAll(/[^\n]/g, "_") : source[at];
    at = Math.max(end, at + 1);
  }
  return code;
}

/** Where a comment, string or template that begins here ends; here, when none does. */
function endOfText(source: string, at: number): number {
  if (source.startsWith("//", at)) return source.indexOf("\n", at);
  if (source.startsWith("/*", at)) return source.indexOf("*/", at) + 2;
  if (source[at] === '"') return endOfString(source, at) + 1;
  return source[at] === "`" ? endOfTemplate(source, at + 1) : at;
}

/** The function, method or constant that a place of the code belongs to. */
const place = (code: string, at: number): string =>
  [...code.slice(0, at).matchAll(/(?:\bfunction |^const |^ {2}(?:async )?(?=\w+\(.*\{$))([a-z]\w*)\b/gm)].at(
    -1,
  )?.[1] ?? "";

/** Every mutation of a piece of TypeScript that decides what becomes of a message. */
export function changesOfTypeScript(source: string): Change[] {
  const code = blank(source);
  const changes: Change[] = [];
  const add = (
    what: string,
    start: number,
    end: number,
    by: string,
    kind: Change["kind"] = "guard",
    of = source.slice(start, end),
  ) => changes.push({ kind, place: place(code, start), what: `${what} ${quote(of)}`, start, end, by });

  for (const { index, 0: found } of code.matchAll(/\bfailAfter\(/g)) {
    const end = closeOf(code, index + found.length) + 1;
    if (!/(const|function) $/.test(code.slice(0, index))) add("acknowledge for", index, end, "acknowledge");
  }
  for (const { index, 0: found } of code.matchAll(/(?<=[\s(:,])acknowledge(?=[\s;,)}])/g))
    if (!inImport(code, index))
      add("failAfter(0) for", index, index + found.length, "failAfter(0)", "guard", lineAt(source, index));
  for (const { index, 0: found } of source.matchAll(/^ *case "\w+":/gm))
    add("drop", index, index + found.length, 'case "\\0":');
  for (const { index, 0: found } of code.matchAll(/\bif \(/g)) {
    const from = index + found.length;
    const end = closeOf(code, from);
    add("never if", from, end, "false");
    add("if not", from, end, `!(${source.slice(from, end)})`, "detail");
  }
  for (const { index, 0: found } of code.matchAll(/ (>=|<=|<|>|===|!==) /g)) {
    const by = opposite[found] ?? found;
    add(`${by.trim()} in`, index, index + found.length, by, "guard", lineAt(source, index));
  }
  for (const { index, 0: found } of code.matchAll(/ (\?\?|&&|\|\|) /g)) {
    const [start, end] = [beginOfOperand(code, index), endOfOperand(code, index + found.length)];
    add("only the left of", index, end, "", "guard", source.slice(start, end));
    add("only the right of", start, index + found.length, "", "guard", source.slice(start, end));
  }
  for (const { index, 0: found } of code.matchAll(/^ *[\w.]+ (?:\+=|=) [^;=>{]+(?:\{\})?;$/gm))
    add("drop", index + found.search(/\S/), index + found.length, ";");
  for (const { index, 0: found } of code.matchAll(/\bMath\.(?:min|max)\(/g)) {
    const from = index + found.length;
    const end = closeOf(code, from);
    const comma = from + commaIn(code.slice(from, end));
    if (comma < from) continue;
    add("only the first of", index, end + 1, source.slice(from, comma));
    add("only the second of", index, end + 1, `(${source.slice(comma + 1, end).trim()})`);
  }
  return changes.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

const opposite: Record<string, string> = {
  " >= ": " > ",
  " <= ": " < ",
  " < ": " <= ",
  " > ": " >= ",
  " === ": " !== ",
  " !== ": " === ",
};

const lineAt = (source: string, at: number): string =>
  source.slice(source.lastIndexOf("\n", at) + 1, `${source}\n`.indexOf("\n", at)).trim();

const inImport = (code: string, at: number): boolean =>
  /import [^;]*$/.test(code.slice(Math.max(0, code.lastIndexOf(";", at)), at));

/** Where the bracket closes that was opened right before `from`. */
function closeOf(code: string, from: number): number {
  return endOf(code, from, () => false);
}

const endOfOperand = (code: string, from: number): number =>
  endOf(code, from, (at) => /^(?:[;,]| (?:\?\?|&&|\|\||\?|:) )/.test(code.slice(at, at + 4)));

function endOf(code: string, from: number, isEnd: (at: number) => boolean): number {
  let depth = 0;
  for (let at = from; at < code.length; at++) {
    if (depth === 0 && isEnd(at)) return at;
    if ("([{".includes(code[at] ?? "")) depth += 1;
    if (")]}".includes(code[at] ?? "")) depth -= 1;
    if (depth < 0) return at;
  }
  return code.length;
}

function beginOfOperand(code: string, to: number): number {
  let depth = 0;
  for (let at = to - 1; at > 0; at--) {
    if (")]}".includes(code[at] ?? "")) depth += 1;
    if ("([{".includes(code[at] ?? "")) depth -= 1;
    if (depth < 0) return at + 1;
    if (depth === 0 && /(?:[;,]|return|\?\?|&&|\|\||[^=!<>]=|=>| [?:])\s+$/.test(code.slice(0, at)))
      return at;
  }
  return 0;
}

function commaIn(code: string): number {
  const at = endOf(code, 0, (place) => code[place] === ",");
  return code[at] === "," ? at : Number.NEGATIVE_INFINITY;
}
