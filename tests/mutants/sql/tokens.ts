/** A word, number, string or sign of SQL; `hole` is `${…}` of a template, `fragment` one that holds more SQL. */
export type Token = {
  kind: "word" | "number" | "string" | "sign" | "hole" | "fragment";
  text: string;
  start: number;
  end: number;
};

const patterns: [Token["kind"] | "space", RegExp][] = [
  // With what is PL/pgSQL's own word to its compiler.
  ["space", /\s+|--[^\n]*|#variable_conflict \w+/y],
  ["string", /'(?:[^']|'')*'/y],
  ["word", /"[^"]+"|\$\d+|[A-Za-z_][A-Za-z0-9_]*/y],
  ["number", /\d+(?:\.\d+)?/y],
  ["sign", /<=|>=|<>|!=|!~|:=|::|\|\||=>|[-+*/^<>=~&:.,;()[\]]/y],
];

/** The tokens of a statement, a template's text or a function's body; throws at what it does not know. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const token = text.startsWith("${", at) ? hole(text, at) : match(text, at);
    if (token.kind !== "space") tokens.push({ ...token, kind: token.kind });
    at = token.end;
  }
  return tokens;
}

function match(text: string, at: number): Omit<Token, "kind"> & { kind: Token["kind"] | "space" } {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) return { kind, text: found[0], start: at, end: pattern.lastIndex };
  }
  throw new Error(`no SQL token begins with ${JSON.stringify(text.slice(at, at + 30))}`);
}

function hole(text: string, at: number): Token {
  const end = endOfHole(text, at + 2);
  const inside = text.slice(at, end);
  return { kind: /\bsql`/.test(inside) ? "fragment" : "hole", text: inside, start: at, end };
}

/** Where a template's `${` ends, past its `}`: templates, strings and braces in it are passed over. */
export function endOfHole(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const sign = text[at];
    if (sign === "}") return at + 1;
    if (sign === "{") at = endOfHole(text, at + 1) - 1;
    else if (sign === "`") at = endOfTemplate(text, at + 1) - 1;
    else if (sign === '"' || sign === "'") at = endOfString(text, at);
  }
  throw new Error(`a template's hole does not end: ${text.slice(from, from + 40)}`);
}

/** Where a template literal ends, past its back-tick. */
export function endOfTemplate(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "`") return at + 1;
    else if (text.startsWith("${", at)) at = endOfHole(text, at + 2) - 1;
  }
  throw new Error(`a template does not end: ${text.slice(from, from + 40)}`);
}

/** The place of the quote that ends the string that begins at `from`. */
export function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== text[from]) at += text[at] === "\\" ? 2 : 1;
  return at;
}
