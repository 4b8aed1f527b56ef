import { readFile } from "node:fs/promises";
import type { Result as All } from "../all/command.ts";
import type { Result as Cold } from "../cold/command.ts";
import type { Result as Deliver } from "../deliver/command.ts";
import { type Series, series } from "../figures.ts";
import type { Result as Flat } from "../flat/command.ts";
import type { Result as Latency } from "../latency/command.ts";
import type { Result as Ledger } from "../ledger/command.ts";
import type { Result as Pressure } from "../pressure/command.ts";
import type { Result as Sweep } from "../sweep/command.ts";

/** What the benchmarks printed, as far as somebody reads more of it than the figures. */
export type Results = {
  ledger?: Ledger;
  sweep?: Sweep;
  flat?: Flat;
  pressure?: Pressure;
  latency?: Latency;
  cold?: Cold;
  deliver?: Deliver;
};

/** One run of `bench all`. */
export type Run = Omit<All, "results"> & { results: Results };

/** A file that is no run, or none that tells enough. The message says how to make one. */
export class NotARun extends Error {
  override readonly name = "NotARun";
}

/**
 * Reads what `bench all --out` wrote.
 *
 * @throws NotARun for a file with anything else in it
 */
export const readRuns = (files: readonly string[]): Promise<Run[]> =>
  Promise.all(
    files.map(async (file) => {
      const run = parseJson(await readFile(file, "utf8"));
      if (isRun(run)) return run;
      throw new NotARun(`${file} is no run of all benchmarks: make one with bench all --out ${file}`);
    }),
  );

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Looks no further than the names: the files are our own, of this version. */
function isRun(value: unknown): value is Run {
  const { benchmark, machine, figures, results }: Record<string, unknown> = Object(value);
  return benchmark === "all" && machine instanceof Object && Array.isArray(figures) && areResults(results);
}

const areResults = (value: unknown): boolean =>
  value instanceof Object &&
  Object.entries(value).every(([name, result]) => Object(result).benchmark === name);

/** A benchmark's results in those runs that have one. */
export const resultsOf = <Name extends keyof Results>(runs: readonly Run[], name: Name) =>
  runs.flatMap(({ results }) => {
    const result = results[name];
    return result === undefined ? [] : [result];
  });

/**
 * The same thing in several runs: the median of their medians, and the least and the greatest that any of them measured.
 *
 * @throws RangeError without values
 */
export const over = (values: readonly Series[]): Series => ({
  median: series(values.map(({ median }) => median)).median,
  min: series(values.map(({ min }) => min)).min,
  max: series(values.map(({ max }) => max)).max,
});

/** What went wrong with a file, for whoever named it. */
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
