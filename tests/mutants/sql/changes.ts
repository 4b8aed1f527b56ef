import type { Change } from "../change.ts";
import { changeClauses, changeLists } from "./clauses.ts";
import { changeConditions } from "./conditions.ts";
import { changeExpressions } from "./expressions.ts";
import { parse } from "./tree.ts";
import { walk } from "./walk.ts";

/** Every mutation of a piece of SQL, in the order of its text. */
export function changesOfSql(text: string): Change[] {
  return [...walk(parse(text))]
    .flatMap((place) => {
      const changes = [
        ...changeConditions(text, place),
        ...changeClauses(text, place),
        ...changeLists(text, place),
        ...changeExpressions(text, place),
      ];
      // What an assignment chooses lets nobody through.
      return place.isSet ? changes.map((change) => ({ ...change, kind: "detail" as const })) : changes;
    })
    .toSorted((a, b) => a.start - b.start || b.end - a.end);
}
