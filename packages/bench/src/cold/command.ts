import { join } from "node:path";
import type { Stack } from "@owed/local/stack";
import Table from "cli-table3";
import { Command } from "commander";
import type { Stage } from "../../../../infra/bundle.ts";
import { makeBundles } from "../../../../infra/bundles/make.ts";
import { wholeNumber } from "../arguments.ts";
import { type Figure, figureTable } from "../figures.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { type Spread, spread } from "../statistics.ts";
import { type Cloud, withCloud } from "../with-cloud.ts";
import { type Sample, sampleAll } from "./sample.ts";

type Options = { runs: number; json: boolean };

type Times = Omit<Spread, "p99">;

export type Result = {
  benchmark: "cold";
  machine: Machine;
  options: Options;
  /** Times in milliseconds. */
  functions: { stage: Stage; bytes: number; imported: Times; invoked: Times }[];
  figures: Figure[];
};

/** Milliseconds that importing an artefact may take. */
const target = 300;

export const coldCommand = () =>
  new Command("cold")
    .description(
      "What a cold start costs that is ours: importing each function's artefact, and its first invocation, in fresh processes. Lambda's own part, fetching the code and starting Node, comes before.",
    )
    .option("--runs <n>", "fresh processes for each function", wholeNumber(), 15)
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await measure(options);
      print(result, options.json ? console.error : console.log);
      if (options.json) console.log(JSON.stringify(result));
    });

/** Each function has something to do: ingest leaves it to the sweep. */
const leftToSweeps = { settings: { ingest: { atOnce: false } } };

const measure = (options: Options): Promise<Result> =>
  withCloud(leftToSweeps, async (cloud, folder) => {
    const build = join(folder, "build");
    const bundles = await makeBundles(build);
    await quieten(cloud.stack);
    const samples = await sampled({ ...cloud, build }, options.runs * bundles.length, options.runs);
    const functions = bundles.map(({ stage, bytes }) => {
      const its = samples.filter((sample) => sample.stage === stage);
      const times = (of: (sample: Sample) => number): Times => {
        const { min, p50, max } = spread(its.map(of));
        return { min, p50, max };
      };
      return { stage, bytes, imported: times((s) => s.imported), invoked: times((s) => s.invoked) };
    });
    const figures = functions.map(
      ({ stage, imported }): Figure => ({
        ...{ name: `cold: import of ${stage}`, value: imported.p50, unit: "ms" },
        ...{ target, sense: "at most" },
      }),
    );
    return { benchmark: "cold", machine: await describeMachine(cloud.ledger), options, functions, figures };
  });

/** The artefacts alone consume and sweep. */
async function quieten({ sources }: Stack): Promise<void> {
  await Promise.all(Object.values(sources).map((source) => source.pause()));
}

const sampled = (cold: Cloud & { build: string }, total: number, runs: number): Promise<Sample[]> =>
  withProgress("cold starts", total, async (update) => {
    const samples: Sample[] = [];
    for (let run = 0; run < runs; run += 1)
      await sampleAll({ ...cold, sampled: (sample) => update(samples.push(sample)) });
    return samples;
  });

function print({ machine, options, functions, figures }: Result, log: (text: string) => void): void {
  log(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);
  log(`Medians (min … max) of ${options.runs} fresh processes each, in ms`);
  const table = new Table({
    head: ["function", "bytes", "import", "first invocation"],
    colAligns: ["left", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  const shown = ({ min, p50, max }: Times) => `${p50.toFixed(0)} (${min.toFixed(0)} … ${max.toFixed(0)})`;
  for (const { stage, bytes, imported, invoked } of functions)
    table.push([stage, bytes, shown(imported), shown(invoked)]);
  log(table.toString());
  log(figureTable(figures));
}
