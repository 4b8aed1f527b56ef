import type { Measured } from "../database/measure.ts";
import { type Figure, series } from "../figures.ts";
import type { Name } from "./contestants.ts";

/** What the whole life has to reach: medians, and ratios of medians of the same benchmark. */
export function figuresOf(measured: ReadonlyMap<Name, readonly Measured[]>): Figure[] {
  const median = (name: Name, of: (run: Measured) => number) =>
    series((measured.get(name) ?? []).map(of)).median;
  const speed = (name: Name) => median(name, (run) => run.rowsPerSecond);
  const beside = (ours: Name, theirs: Name, what: string, target: number): Figure => ({
    ...{ name: `ledger: whole life ${what}`, value: speed(ours) / speed(theirs), unit: "x" },
    ...{ target, sense: "at least" },
  });
  return [
    beside("batches", "pgBossTuned", "in batches of ten, beside pg-boss tuned", 0.9),
    beside("batches", "graphileDefaults", "in batches of ten, beside graphile-worker's defaults", 6),
    beside("coalesced", "pgBossTuned", "coalesced, beside pg-boss tuned", 1.3),
    beside("coalesced", "graphileTuned", "coalesced, beside graphile-worker tuned", 1),
    {
      name: "ledger: write-ahead log in batches of ten",
      value: median("batches", (run) => run.walPerRow),
      unit: "bytes/row",
      target: 1100,
      sense: "at most",
    },
    {
      name: "ledger: statements in batches of ten",
      value: median("batches", (run) => run.statementsPerRow),
      unit: "/row",
      target: 0.25,
      sense: "at most",
    },
  ];
}
