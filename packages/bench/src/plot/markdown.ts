import { type Figure, reached, type Series, series, showNumber, showSeries } from "../figures.ts";
import { showMachine } from "../machine.ts";
import type { Run } from "./runs.ts";

/** The same figure in several runs. */
export type FigureOver = { figure: Figure; values: number[]; missed: number };

/** Each figure once, as the runs name them, in the order of the first that has it. */
export function figuresOver(runs: readonly Run[]): FigureOver[] {
  const all = new Map<string, FigureOver>();
  for (const figure of runs.flatMap(({ figures }) => figures)) {
    const one = all.get(figure.name) ?? { figure, values: [], missed: 0 };
    all.set(figure.name, one);
    // JSON has null where nothing could be measured.
    if (Number.isFinite(figure.value)) one.values.push(figure.value);
    if (!Number.isFinite(figure.value) || !reached(figure)) one.missed += 1;
  }
  return [...all.values()];
}

/** For the document: what the runs were made on, and each figure's median, least and greatest beside its target. */
export function markdown(runs: readonly Run[]): string {
  const machines = [...new Set(runs.map(({ machine }) => showMachine(machine)))];
  const failed = runs.flatMap((run, place) =>
    Object.entries(run.failed).map(([, why]) => `Run ${place + 1}: ${why}`),
  );
  return [
    `${runs.length} ${runs.length === 1 ? "run" : "runs"} of all benchmarks: ${machines.join("; ")}.`,
    "",
    "| figure | median (min … max) | target | |",
    "|---|---:|---:|---|",
    ...figuresOver(runs).map((one) => row(one, runs.length)),
    ...failed.map((why) => `\n${why}`),
  ].join("\n");
}

function row({ figure, values, missed }: FigureOver, runs: number): string {
  const { name, unit, target, sense } = figure;
  const measured = values.length > 0 ? series(values) : null;
  const bound = `${sense === "at least" ? "≥" : "≤"} ${withUnit(showNumber(target), unit)}`;
  const judged = measured !== null && reached({ ...figure, value: measured.median });
  const verdict = judged ? "reached" : "**missed**";
  const some = judged && missed > 0 ? `, missed in ${missed} of ${runs}` : "";
  return `| ${name} | ${measured === null ? "–" : withUnit(shown(measured), unit)} | ${bound} | ${verdict}${some} |`;
}

/** What was the same every time needs no brackets. */
const shown = (values: Series): string =>
  values.min === values.max ? showNumber(values.median) : showSeries(values);

const withUnit = (text: string, unit: string): string =>
  unit.startsWith("/") ? `${text}${unit}` : `${text} ${unit}`;
