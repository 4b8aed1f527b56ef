import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ledger } from "@owed/ledger";
import { type Stack, startStack } from "@owed/local/stack";
import Table from "cli-table3";
import { Command } from "commander";
import type { Stage } from "../../../../infra/bundle.ts";
import { makeBundles } from "../../../../infra/bundles/make.ts";
import { wholeNumber } from "../arguments.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { startProgress } from "../progress.ts";
import { type Spread, spread } from "../statistics.ts";
import { type Sample, sampleAll } from "./sample.ts";

type Options = { runs: number; json: boolean };

type Times = Omit<Spread, "p99">;

export type Result = {
  benchmark: "cold";
  machine: Machine;
  options: Options;
  /** Times in milliseconds. */
  functions: { stage: Stage; bytes: number; imported: Times; invoked: Times }[];
};

export const coldCommand = () =>
  new Command("cold")
    .description(
      "What a cold start costs that is ours: importing each function's artefact, and its first invocation, in fresh processes. Lambda's own part, fetching the code and starting Node, comes before.",
    )
    .option("--runs <n>", "fresh processes for each function", wholeNumber(), 15)
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await measure(options);
      if (options.json) console.log(JSON.stringify(result));
      else print(result);
    });

async function measure(options: Options): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "owed-bench-"));
  try {
    const build = join(folder, "build");
    const bundles = await makeBundles(build);
    const stack = await startStack({ folder, functionLogs: "ERROR", log: (line) => console.error(line) });
    const ledger = new Ledger({ ...stack.ledgerOptions, applicationName: "owed-bench" });
    try {
      await quieten(stack);
      const samples = await sampled({ stack, ledger, build }, options.runs * bundles.length, options.runs);
      const functions = bundles.map(({ stage, bytes }) => {
        const its = samples.filter((sample) => sample.stage === stage);
        const times = (of: (sample: Sample) => number): Times => {
          const { min, p50, max } = spread(its.map(of));
          return { min, p50, max };
        };
        return { stage, bytes, imported: times((s) => s.imported), invoked: times((s) => s.invoked) };
      });
      return { benchmark: "cold", machine: await describeMachine(ledger), options, functions };
    } finally {
      await ledger.close();
      await stack.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The artefacts alone consume and sweep. */
async function quieten({ schedule, sources }: Stack): Promise<void> {
  schedule.pause();
  await Promise.all(Object.values(sources).map((source) => source.pause()));
}

async function sampled(
  cold: { stack: Stack; ledger: Ledger; build: string },
  total: number,
  runs: number,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  const progress = startProgress("cold starts", total);
  try {
    for (let run = 0; run < runs; run += 1)
      await sampleAll({ ...cold, sampled: (sample) => progress.update(samples.push(sample)) });
  } finally {
    progress.stop();
  }
  return samples;
}

function print({ machine, options, functions }: Result): void {
  console.log(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);
  console.log(`Medians (min … max) of ${options.runs} fresh processes each, in ms`);
  const table = new Table({
    head: ["function", "bytes", "import", "first invocation"],
    colAligns: ["left", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  const shown = ({ min, p50, max }: Times) => `${p50.toFixed(0)} (${min.toFixed(0)} … ${max.toFixed(0)})`;
  for (const { stage, bytes, imported, invoked } of functions)
    table.push([stage, bytes, shown(imported), shown(invoked)]);
  console.log(table.toString());
}
