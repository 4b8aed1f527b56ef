import { readFileSync, writeFileSync } from "node:fs";
import type { Judged, Killer } from "./mutant.ts";

const table = new URL("./killers.json", import.meta.url);

/** By test file and test: the mutants that it caught when they were last looked for in all tests. */
type Kept = Record<string, Record<string, string[]>>;

/** Which test catches which mutant, by the mutant's id: tried first, so that a full run is a matter of minutes. */
export function readKillers(): Map<string, Killer> {
  const kept: Kept = JSON.parse(readFileSync(table, "utf8"));
  return new Map(
    Object.entries(kept).flatMap(([name, tests]) =>
      Object.entries(tests).flatMap(([test, ids]) => ids.map((id) => [id, { file: name, test }] as const)),
    ),
  );
}

/** Keeps what was found now, and what was known of mutants that still exist. */
export function keepKillers(judged: readonly Judged[], existing: ReadonlySet<string>): void {
  const killers = readKillers();
  for (const { id, verdict } of judged) {
    if ("by" in verdict && verdict.by.file !== "") killers.set(id, verdict.by);
    else killers.delete(id);
  }
  const left = [...killers].filter(([id]) => existing.has(id)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const kept: Kept = Object.fromEntries(
    grouped(left, ([, { file }]) => file).map(([name, ofFile]) => [
      name,
      Object.fromEntries(
        grouped(ofFile, ([, { test }]) => test).map(([test, ofTest]) => [test, ofTest.map(([id]) => id)]),
      ),
    ]),
  );
  writeFileSync(table, `${JSON.stringify(kept, null, 2)}\n`);
}

const grouped = <T>(all: readonly T[], by: (one: T) => string): [string, T[]][] =>
  [...Map.groupBy(all, by)].toSorted(([a], [b]) => (a < b ? -1 : 1));
