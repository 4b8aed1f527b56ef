import { type Change, quote } from "../change.ts";
import { type Group, type Item, isGroup, isSign, isWord, split } from "./tree.ts";
import type { Place } from "./walk.ts";

/** Branches of CASE, arguments of coalesce, greatest and least, steps of counters, spans of time, max for min. */
export function changeExpressions(text: string, place: Place): Change[] {
  const { group, name } = place;
  const changes = group.open === "CASE" ? branches(text, group) : [];
  for (const [at, item] of group.items.entries()) {
    const next = group.items[at + 1];
    if (isWord(item, "coalesce", "greatest", "least") && isGroup(next, "("))
      changes.push(...theOthers(text, item.start, item.text, next));
    if (isWord(item, "max", "min") && isGroup(next, "(")) {
      const by = item.text === "max" ? "min" : "max";
      const what = `${by} for ${quote(text.slice(item.start, next.end))}`;
      changes.push({ kind: "detail", place: "", what, start: item.start, end: item.end, by });
    }
    if (isSign(item, "+", "-") && at > 0) changes.push(...step(text, group.items, at));
  }
  return changes.map((change) => ({ ...change, place: name }));
}

function theOthers(text: string, start: number, called: string, call: Group): Change[] {
  const parts = split(call.items, (item) => isSign(item, ","));
  if (parts.length < 2) return [];
  const written = parts.map((part) => text.slice(part[0]?.start ?? 0, part.at(-1)?.end ?? 0));
  return written.map((part, place) => {
    const others = written.filter((_, other) => other !== place);
    const by = others.length > 1 ? `${called}(${others.join(", ")})` : `(${others[0]})`;
    const whole = quote(text.slice(start, call.end));
    return {
      kind: "detail" as const,
      place: "",
      what: `${called} without ${quote(part)} in ${whole}`,
      start,
      end: call.end,
      by,
    };
  });
}

/** `+ 1`, `+ CASE … THEN 1 ELSE 0 END`, `- interval '…'`, `+ make_interval(…)` left out. */
function step(text: string, items: readonly Item[], at: number): Change[] {
  const [sign, first, second] = items.slice(at, at + 3);
  const isSpan =
    (isWord(first, "make_interval") && isGroup(second, "(")) ||
    (isWord(first, "interval") && second?.kind === "string");
  const isStep = (first?.kind === "number" && first.text === "1") || isGroup(first, "CASE");
  const last = isSpan ? second : isStep ? first : undefined;
  if (!sign || !last) return [];
  const whole = text.slice(items[Math.max(0, at - 4)]?.start ?? 0, last.end);
  return [
    {
      kind: isSpan ? "detail" : "guard",
      place: "",
      what: `step dropped from ${quote(whole)}`,
      start: sign.start,
      end: last.end,
      by: "",
    },
  ];
}

type Branch = { when: Item[]; result: Item[] };

/** A CASE without one of its branches; with a single one: as if it were never so, and as if it always were. */
function branches(text: string, { items, start, end }: Group): Change[] {
  const otherwise = items.findIndex((item) => isWord(item, "ELSE"));
  const arms = items.slice(0, otherwise === -1 ? items.length : otherwise);
  const whens = arms.flatMap((item, at) => (isWord(item, "WHEN") ? [at] : []));
  const parts = whens.map((from, place): Branch => {
    const arm = arms.slice(from, whens[place + 1] ?? arms.length);
    const then = arm.findIndex((item) => isWord(item, "THEN"));
    return { when: arm.slice(0, then), result: arm.slice(then + 1) };
  });
  const write = (part: readonly Item[]) => text.slice(part[0]?.start ?? 0, part.at(-1)?.end ?? 0);
  const [only, ...others] = parts;
  if (only && others.length === 0) {
    // Still a CASE, of the same type, even where nothing else is said.
    const rest = text.slice(only.when.at(-1)?.end ?? start, end);
    const whole = quote(text.slice(start, end));
    const change = (kind: Change["kind"], what: string, by: string): Change => ({
      kind,
      place: "",
      what: `${what} ${quote(write(only.when))} of ${whole}`,
      start,
      end,
      by: `CASE WHEN ${by}${rest}`,
    });
    return [change("guard", "never", "false"), change("detail", "always", "true")];
  }
  return parts.map(({ when, result }) => ({
    kind: "guard" as const,
    place: "",
    what: `drop ${quote(text.slice(when[0]?.start ?? 0, result.at(-1)?.end ?? 0))}`,
    start: when[0]?.start ?? 0,
    end: result.at(-1)?.end ?? 0,
    by: "",
  }));
}
