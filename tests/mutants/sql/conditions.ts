import { type Change, quote } from "../change.ts";
import { type Item, isSign, isWord, split } from "./tree.ts";
import { type Place, type Segment, segmentsOf } from "./walk.ts";

type Found = Omit<Change, "place"> & { clause: string };

/** What is removed from or turned round in the conditions of a group. */
export function changeConditions(text: string, { group, name }: Place): Change[] {
  return segmentsOf(group).flatMap((segment) =>
    [...connectives(text, segment), ...comparisons(text, segment)].map(({ clause, ...found }) => ({
      ...found,
      place: [name, clause].filter(Boolean).join("."),
    })),
  );
}

const span = (items: readonly Item[]) => ({ start: items[0]?.start ?? 0, end: items.at(-1)?.end ?? 0 });

/** Each part of an AND or OR as if it were not there; a WHERE as if it asked nothing, an IF as if it never happened. */
function connectives(text: string, { items, after }: Segment): Found[] {
  const clause = after.toLowerCase();
  const drop = (part: readonly Item[], by: string): Found => {
    const { start, end } = span(part);
    return { kind: "guard", clause, what: `drop ${quote(text.slice(start, end))}`, start, end, by };
  };
  const either = split(items, (item) => isWord(item, "OR"));
  const found = either.length > 1 ? either.map((part) => drop(part, "false")) : [];
  for (const part of either) {
    const all = split(part, (item, at) => isWord(item, "AND") && !isWord(part[at - 2], "BETWEEN"));
    if (all.length > 1) found.push(...all.map((one) => drop(one, "true")));
    else if (either.length === 1 && after === "WHERE") found.push(drop(part, "true"));
    else if (either.length === 1 && (after === "IF" || after === "ELSIF")) found.push(drop(part, "false"));
    for (const one of all) {
      const [first] = one;
      if (!isWord(first, "NOT") || one.length < 2) continue;
      const { end } = span(one);
      const what = `not ${quote(text.slice(first.start, end))}`;
      found.push({ kind: "detail", clause, what, start: first.start, end: first.end, by: "" });
    }
  }
  return found;
}

const inverse: Record<string, string> = { "<": ">=", "<=": ">", ">": "<=", ">=": "<" };
const shifted: Record<string, string> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const ofTheClock = /now\(\)|clock_timestamp\(\)|v_now|interval|_at\b|until|minute/;

/**
 * Comparisons by one step. A boundary of the clock is a microsecond wide, and nobody can stand on it: one of two
 * times is turned round instead, which is more than to drop it.
 */
function comparisons(text: string, { items, after }: Segment): Found[] {
  return split(items, (item) => isWord(item, "AND", "OR", "NOT")).flatMap((part) => {
    const { start, end } = span(part);
    const whole = text.slice(start, end);
    return part.flatMap((item) => {
      if (!isSign(item, "<", "<=", ">", ">=")) return [];
      const isTime = ofTheClock.test(whole);
      const by = (isTime ? inverse : shifted)[item.text] ?? item.text;
      const kind = isTime ? "detail" : "guard";
      return [
        {
          kind,
          clause: after.toLowerCase(),
          what: `${by} in ${quote(whole)}`,
          start: item.start,
          end: item.end,
          by,
        },
      ];
    });
  });
}
