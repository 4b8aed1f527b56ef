import { type Group, type Item, isGroup, isSign, isWord } from "./tree.ts";

/** A group, the name of the innermost common table expression that it belongs to, and whether it is part of a SET. */
export type Place = { group: Group; name: string; isSet: boolean };

/** Every group of a text with its place, from the outside in. */
export function* walk(group: Group, name = "", isSet = false): Generator<Place> {
  yield { group, name, isSet };
  let assigns = isSet;
  for (const [at, item] of group.items.entries()) {
    if (isWord(item, "SET")) assigns = true;
    if (isWord(item, "FROM", "WHERE", "RETURNING") || isSign(item, ";")) assigns = isSet;
    if (item.kind === "group")
      yield* walk(item, (isGroup(item, "(") && tableBefore(group.items, at)) || name, assigns);
  }
}

/** `name AS (` or `name AS MATERIALIZED (` names what stands between the parentheses. */
function tableBefore(items: readonly Item[], at: number): string | undefined {
  let before = at - 1;
  if (isWord(items[before], "MATERIALIZED")) before -= 1;
  const [name, as] = items.slice(Math.max(0, before - 1), before + 1);
  return isWord(as, "AS") && name?.kind === "word" ? name.text : undefined;
}

/** Words that end an expression and begin another, or none. */
const boundaries = [
  ..."SELECT FROM WHERE ON HAVING WHEN THEN ELSE ELSIF IF AS SET RETURNING GROUP ORDER BY LIMIT OFFSET FOR".split(
    " ",
  ),
  ..."UNION JOIN LEFT CROSS INNER USING VALUES DO INTO UPDATE INSERT DELETE RETURN EXECUTE FILTER".split(" "),
  ..."PARTITION BEGIN END PERFORM LATERAL DECLARE WITH CONFLICT SKIP EXCEPTION".split(" "),
];

/** Expressions of a group, without those of the groups in it, and the word before each. */
export type Segment = { items: Item[]; after: string };

export function segmentsOf({ items }: Group): Segment[] {
  const segments: Segment[] = [{ items: [], after: "" }];
  for (const [at, item] of items.entries()) {
    if (isBoundary(item, items[at - 1]))
      segments.push({ items: [], after: item.kind === "word" ? afterOf(item.text, segments.at(-1)) : "" });
    else segments.at(-1)?.items.push(item);
  }
  return segments.filter((segment) => segment.items.length > 0);
}

/** The condition of ON CONFLICT names an index, and lets nobody through. */
const afterOf = (word: string, before: Segment | undefined): string =>
  word === "WHERE" && before?.after === "CONFLICT" ? "CONFLICT" : word;

const isBoundary = (item: Item, before: Item | undefined): item is Exclude<Item, Group> =>
  isSign(item, ",", ";", ":=") ||
  item.kind === "fragment" ||
  // `IS DISTINCT FROM` compares.
  (isWord(item, ...boundaries) && !(isWord(item, "FROM") && isWord(before, "DISTINCT")));

/** From a word of a clause to its end: the items before one of these words, a semicolon, or SQL from elsewhere. */
export function clauseFrom(items: readonly Item[], at: number, ends: readonly string[]): Item[] {
  const end = items.findIndex(
    (item, place) => place > at && (isWord(item, ...ends) || isSign(item, ";") || item.kind === "fragment"),
  );
  return items.slice(at, end === -1 ? items.length : end);
}
