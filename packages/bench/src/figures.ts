import Table from "cli-table3";
import { percentile } from "./statistics.ts";

/** One number of a benchmark, and what it has to be. */
export type Figure = {
  /** Says what was measured to a reader who sees nothing else. */
  name: string;
  /** NaN, in JSON null, where nothing could be measured. */
  value: number;
  /** Such as "x" for a ratio, "ms", "bytes/row". */
  unit: string;
  target: number;
  sense: "at least" | "at most";
};

/** Whether the figure is what it has to be. A value that is no number reaches nothing. */
export function reached({ value, target, sense }: Figure): boolean {
  return sense === "at least" ? value >= target : value <= target;
}

/** What several runs measured of the same thing. */
export type Series = { median: number; min: number; max: number };

/**
 * The median of the runs with the least and the greatest. With an even number of them it is the lower one of the two in
 * the middle, so that it is one that was measured.
 *
 * @throws RangeError without values
 */
export const series = (values: readonly number[]): Series => ({
  median: significant(percentile(values, 0.5)),
  min: significant(percentile(values, 0)),
  max: significant(percentile(values, 1)),
});

/** Four digits are more than a measurement is worth. */
const significant = (value: number): number => Number(value.toPrecision(4));

/** Such as "26.6k (25.1k … 27.0k)". */
export const showSeries = ({ median, min, max }: Series): string =>
  `${showNumber(median)} (${showNumber(min)} … ${showNumber(max)})`;

/** Three digits, large numbers in thousands and millions. */
export function showNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 9_995_000) return `${(value / 1e6).toPrecision(3)}M`;
  if (size >= 9_995) return `${Number((value / 1e3).toPrecision(3))}k`;
  if (size >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

/** For people: each figure beside its target. */
export function figureTable(figures: readonly Figure[]): string {
  const table = new Table({
    head: ["figure", "measured", "target", ""],
    colAligns: ["left", "right", "right", "left"],
    style: { head: [], border: [] },
  });
  for (const figure of figures) {
    const { name, value, unit, target, sense } = figure;
    const bound = `${sense === "at least" ? "≥" : "≤"} ${showNumber(target)} ${unit}`;
    table.push([name, `${showNumber(value)} ${unit}`, bound, reached(figure) ? "reached" : "MISSED"]);
  }
  return table.toString();
}
