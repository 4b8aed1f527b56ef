import { type Change, quote } from "../change.ts";
import { type Group, type Item, isGroup, isSign, isWord, split } from "./tree.ts";
import { clauseFrom, type Place } from "./walk.ts";

const ends = [
  "WHERE",
  "GROUP",
  "HAVING",
  "ORDER",
  "LIMIT",
  "OFFSET",
  "FOR",
  "RETURNING",
  "UNION",
  "ON",
  "FROM",
];

/** Clauses that are left out: order, limit, locks, what a conflict does, assignments, materialised order of work. */
export function changeClauses(text: string, { group, name }: Place): Change[] {
  const { items } = group;
  const changes: Change[] = [];
  const drop = (clause: string, part: readonly Item[], kind: Change["kind"] = "guard") => {
    const start = part[0]?.start ?? group.start;
    const end = part.at(-1)?.end ?? start;
    const place = [name, clause].filter(Boolean).join(".");
    changes.push({ kind, place, what: `drop ${quote(text.slice(start, end))}`, start, end, by: "" });
  };
  for (const [at, item] of items.entries()) {
    const next = items[at + 1];
    const rest = (words = ends) => clauseFrom(items, at, words);
    if (isWord(item, "ORDER") && isWord(next, "BY"))
      drop("order", rest(ends.filter((end) => end !== "ORDER")), "detail");
    if (isWord(item, "LIMIT")) drop("limit", rest());
    if (isWord(item, "MATERIALIZED")) drop("materialized", [item], "detail");
    if (isWord(item, "SKIP") && isWord(next, "LOCKED")) drop("lock", [item, next]);
    if (isWord(item, "FOR") && isWord(next, "UPDATE", "NO")) drop("lock", rest(["LIMIT", "RETURNING"]));
    if (isWord(item, "ON") && isWord(next, "CONFLICT")) drop("conflict", rest(["RETURNING"]));
    if (isWord(item, "SET")) {
      const assignments = split(rest(["FROM", "WHERE", "RETURNING"]).slice(1), (one) => isSign(one, ","));
      for (const [place, one] of assignments.entries())
        if (assignments.length > 1) changes.push(withoutAssignment(text, name, assignments, place, one));
    }
  }
  return [...changes, ...silence(text, group, name)];
}

function withoutAssignment(
  text: string,
  name: string,
  all: readonly Item[][],
  place: number,
  one: Item[],
): Change {
  const next = all[place + 1]?.[0];
  const before = all[place - 1]?.at(-1);
  const start = next ? (one[0]?.start ?? 0) : (before?.end ?? 0);
  const end = next ? next.start : (one.at(-1)?.end ?? 0);
  const assignment = text.slice(one[0]?.start ?? 0, one.at(-1)?.end ?? 0);
  return {
    kind: "detail",
    place: [name, "set"].filter(Boolean).join("."),
    what: `drop ${quote(assignment)}`,
    start,
    end,
    by: "",
  };
}

/** An insert that tells nobody anything. */
function silence(text: string, { items, start, end }: Group, name: string): Change[] {
  const at = items.findIndex((item) => isWord(item, "SELECT"));
  const table = items.slice(2, 5).map((item) => text.slice(item.start, item.end));
  if (!isWord(items[0], "INSERT") || at === -1) return [];
  const where = items.findIndex((item, place) => place > at && isWord(item, "WHERE"));
  const what = `insert nothing into ${table.join("")}`;
  if (where !== -1) {
    const place = items[where]?.end ?? 0;
    const condition =
      clauseFrom(
        items,
        where,
        ends.filter((word) => word !== "WHERE" && word !== "FROM"),
      ).at(-1)?.end ?? place;
    return [
      {
        kind: "guard",
        place: name,
        what,
        start: place,
        end: condition,
        by: ` false AND (${text.slice(place, condition)})`,
      },
    ];
  }
  const last = clauseFrom(items, at, ["GROUP", "HAVING", "ORDER", "LIMIT", "ON", "RETURNING", "UNION"]).at(
    -1,
  );
  const place = last?.end ?? (start === 0 ? end : end - 1);
  return [{ kind: "guard", place: name, what, start: place, end: place, by: " WHERE false" }];
}

/** One element of a list of strings left out: a state, a kind, an outcome. */
export function changeLists(text: string, { group, name }: Place): Change[] {
  return group.items.flatMap((item, at) => {
    const list = isWord(item, "IN", "ARRAY") ? group.items[at + 1] : undefined;
    if (!(isGroup(list, "(") || isGroup(list, "["))) return [];
    const elements = split(list.items, (one) => isSign(one, ","));
    if (elements.length < 2 || !elements.every(([first]) => first?.kind === "string")) return [];
    const subject = text.slice(group.items[Math.max(0, at - 3)]?.start ?? 0, item.end);
    return elements.map((one, place) => {
      const element = text.slice(one[0]?.start ?? 0, one.at(-1)?.end ?? 0);
      const others = elements.filter((_, other) => other !== place);
      const by = others.map((other) => text.slice(other[0]?.start ?? 0, other.at(-1)?.end ?? 0)).join(", ");
      const what = `without ${element} in ${quote(subject)}`;
      return { kind: "guard" as const, place: name, what, start: list.start + 1, end: list.end - 1, by };
    });
  });
}
