import { type Token, tokenize } from "./tokens.ts";

/** What stands between parentheses, brackets, or CASE and END; the whole text is a group that nothing opens. */
export type Group = {
  kind: "group";
  open: "(" | "[" | "CASE" | "";
  items: Item[];
  start: number;
  end: number;
};
export type Item = Token | Group;
type Word = Token & { kind: "word" };
type Sign = Token & { kind: "sign" };

const closing: Record<string, string> = { "(": ")", "[": "]", CASE: "END" };

/** Groups the tokens of a text. Throws where something is closed that nothing opened. */
export function parse(text: string): Group {
  const root: Group = { kind: "group", open: "", items: [], start: 0, end: text.length };
  const stack = [root];
  for (const token of tokenize(text)) {
    const group = stack.at(-1) ?? root;
    if (token.text === closing[group.open]) {
      group.end = token.end;
      stack.pop();
    } else if (token.text === "CASE" && isGroup(group.items.at(-1), "CASE")) {
      // PL/pgSQL's CASE statement ends with END CASE.
    } else if (token.text === "(" || token.text === "[" || token.text === "CASE") {
      const inner: Group = { kind: "group", open: token.text, items: [], start: token.start, end: token.end };
      group.items.push(inner);
      stack.push(inner);
    } else if (token.text === ")" || token.text === "]")
      throw new Error(`nothing opened the ${token.text} at ${token.start} of ${text.slice(0, 60)}`);
    else group.items.push(token);
  }
  if (stack.length > 1) throw new Error(`a ${stack.at(-1)?.open} is not closed in ${text.slice(0, 60)}`);
  return root;
}

export const isWord = (item: Item | undefined, ...words: readonly string[]): item is Word =>
  item?.kind === "word" && words.includes(item.text);

export const isSign = (item: Item | undefined, ...signs: readonly string[]): item is Sign =>
  item?.kind === "sign" && signs.includes(item.text);

export const isGroup = (item: Item | undefined, open: Group["open"]): item is Group =>
  item?.kind === "group" && item.open === open;

/** Splits items at what stands between them; what is empty is left out. */
export function split(items: readonly Item[], isBetween: (item: Item, place: number) => boolean): Item[][] {
  const parts: Item[][] = [[]];
  for (const [place, item] of items.entries()) {
    if (isBetween(item, place)) parts.push([]);
    else parts.at(-1)?.push(item);
  }
  return parts.filter((part) => part.length > 0);
}
