import type { Plot } from "@owed/plot";
import { showNumber } from "../figures.ts";
import { bars, type Heading } from "./bars.ts";
import { latencyPlot } from "./latency.ts";
import { over, type Run, resultsOf } from "./runs.ts";
import { flatPlot, sweepPlot } from "./series-plots.ts";

/** Those that the runs have results for, by file name. */
export function plotsOf(runs: readonly Run[]): Map<string, Plot> {
  const all: [string, Plot | null][] = [
    ["whole-life", wholeLife(runs)],
    ["sweep", sweep(runs)],
    ["flat", flat(runs)],
    ["pressure", pressure(runs)],
    ["latency", latency(runs)],
    ["cold", cold(runs)],
  ];
  return new Map(all.filter((entry): entry is [string, Plot] => entry[1] !== null));
}

const heading = (text: string, runs: number, more = ""): Heading => ({
  text,
  subtitle: `Median of ${runs} ${runs === 1 ? "run" : "runs"}; lines from the least to the greatest${more}`,
});

function wholeLife(runs: readonly Run[]): Plot | null {
  const results = resultsOf(runs, "ledger");
  const [first] = results;
  if (!first) return null;
  const all = (Object.keys(first.lives) as (keyof typeof first.lives)[]).map((key) => ({
    name: first.lives[key].name,
    ours: key === "batches" || key === "coalesced",
    ...over(results.map(({ lives }) => lives[key].rowsPerSecond)),
  }));
  const title = heading(
    "The whole life of a notification, beside job queues: more is better",
    results.length,
  );
  return bars(title, "notifications or jobs a second", all);
}

function sweep(runs: readonly Run[]): Plot | null {
  const results = resultsOf(runs, "sweep");
  const [first] = results;
  if (!first) return null;
  const points = first.queues.flatMap(({ serviceTime }, place) => {
    const measured = results.flatMap(({ queues }) => queues[place] ?? []);
    const queue = `a queue that answers after ${serviceTime} ms`;
    const point = (
      name: string,
      ours: boolean,
      of: (at: (typeof measured)[number]) => Parameters<typeof over>[0][number],
    ) => ({
      ...{ queue, name, ours, ...over(measured.map(of)) },
    });
    return [
      point("row by row: publish, update", false, ({ original }) => original.rowsPerSecond),
      point("Owed's sweep", true, (at) => at.sweep.rowsPerSecond),
      point("the SDK alone, no ledger", false, ({ alone }) => alone),
    ];
  });
  const title = heading(
    "The sweep beside a row-by-row loop and the SDK alone: more is better",
    results.length,
  );
  return sweepPlot(title, points);
}

function flat(runs: readonly Run[]): Plot | null {
  const results = resultsOf(runs, "flat");
  const [first] = results;
  if (!first) return null;
  const stays = `a ledger that stays at ${showNumber(first.sizes[0]?.history ?? 0)}`;
  const points = first.sizes.flatMap(({ history }, place) => {
    const measured = results.flatMap(({ sizes }) => sizes[place] ?? []);
    return [
      { name: "the ledger that grows", history, ...over(measured.map(({ rate }) => rate)) },
      { name: stays, history, ...over(measured.map(({ beside }) => beside)) },
    ];
  });
  const title = heading("Leasing as the ledger grows: level with its neighbour is better", results.length);
  return flatPlot(title, points);
}

function pressure(runs: readonly Run[]): Plot | null {
  const results = resultsOf(runs, "pressure");
  if (results.length === 0) return null;
  const drained = showNumber(results[0]?.options.drained ?? 0);
  const title = heading(
    "Leasing beside a long transaction: as long as the other is better",
    results.length,
    `; ${drained} rows drained while it was open`,
  );
  return bars(title, "rows leased and marked a second", [
    {
      name: "beside an open transaction",
      ...{ ours: true, ...over(results.map(({ pressure }) => pressure.held.rate)) },
    },
    { name: "beside none", ours: false, ...over(results.map(({ pressure }) => pressure.free.rate)) },
  ]);
}

function latency(runs: readonly Run[]): Plot | null {
  const results = resultsOf(runs, "latency");
  const [first] = results;
  if (!first) return null;
  const title = heading(
    "From the event to the provider's acceptance: less is better",
    results.length,
    `, ${first.options.rate} events a second`,
  );
  return latencyPlot(title, results);
}

function cold(runs: readonly Run[]): Plot | null {
  const results = resultsOf(runs, "cold");
  const [first] = results;
  if (!first) return null;
  const all = first.functions.map(({ stage }) => ({
    ...{ name: stage, ours: true },
    ...over(
      results.flatMap(({ functions }) =>
        functions
          .filter((one) => one.stage === stage)
          .map(({ imported: { p50, min, max } }) => ({ median: p50, min, max })),
      ),
    ),
  }));
  const bound = first.figures[0]?.target;
  const title = heading(
    "Import of each function's artefact in a fresh process: less is better",
    results.length,
    "; dashed: the target",
  );
  return bars(title, "milliseconds", all, bound);
}
