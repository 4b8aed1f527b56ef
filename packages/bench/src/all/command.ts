import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Argument, Command } from "commander";
import { withLedgerDatabase } from "../database/ledger-database.ts";
import { type Figure, figureTable, reached } from "../figures.ts";
import { describeMachine, type Machine, showMachine } from "../machine.ts";
import { type BenchmarkResult, runBenchmark } from "./run-benchmark.ts";

type Options = { json: boolean; out?: string };

export type Result = {
  benchmark: "all";
  machine: Machine;
  /** By benchmark: what it printed, and how long it took. */
  results: Record<string, BenchmarkResult>;
  seconds: Record<string, number>;
  /** Benchmarks that ended without a result, and how. */
  failed: Record<string, string>;
  figures: Figure[];
  /** Every benchmark had its result, and every figure is reached. */
  ok: boolean;
};

/** Those that have figures to reach, the longest first. */
const benchmarks = [
  ...["flat", "ledger", "sweep", "pressure", "deliver", "flow", "latency", "cold", "audit", "idle"],
] as const;

const program = [fileURLToPath(new URL("../bench.ts", import.meta.url))];

export const allCommand = () =>
  new Command("all")
    .description(
      "Every benchmark that has a figure to reach, one after the other, each in a process of its own. Takes about twenty minutes; nothing else should run meanwhile.",
    )
    .addArgument(new Argument("[benchmark...]", "only these").choices(benchmarks).default(benchmarks))
    .option("--out <file>", "write the JSON there as well")
    .option("--json", "print one JSON object last", false)
    .addHelpText("after", "\nExit code: 0 when every figure is reached, else 1.")
    .action(async (names: readonly string[], options: Options) => {
      const result = await runAll(names);
      print(result, options.json ? console.error : console.log);
      const json = JSON.stringify(result);
      if (options.out !== undefined) await writeFile(options.out, `${json}\n`);
      if (options.json) console.log(json);
      process.exitCode = result.ok ? 0 : 1;
    });

async function runAll(names: readonly string[]): Promise<Result> {
  const machine = await withLedgerDatabase(({ setUp }) => describeMachine(setUp));
  const results: Result["results"] = {};
  const seconds: Result["seconds"] = {};
  const failed: Result["failed"] = {};
  for (const [place, name] of names.entries()) {
    console.error(`\n${name} (${place + 1} of ${names.length})`);
    const start = performance.now();
    try {
      results[name] = await runBenchmark(name, program);
    } catch (error) {
      // The others are worth their time all the same.
      failed[name] = error instanceof Error ? error.message : String(error);
      console.error(failed[name]);
    }
    seconds[name] = Math.round((performance.now() - start) / 1000);
  }
  const figures = Object.values(results).flatMap((result) => result.figures);
  const ok = Object.keys(failed).length === 0 && figures.every(reached);
  return { benchmark: "all", machine, results, seconds, failed, figures, ok };
}

function print({ machine, seconds, failed, figures, ok }: Result, log: (text: string) => void): void {
  log(`\n${showMachine(machine)}`);
  log(
    Object.entries(seconds)
      .map(([name, took]) => `${name} ${took} s`)
      .join(", "),
  );
  log(figureTable(figures));
  for (const why of Object.values(failed)) log(why);
  const missed = figures.filter((figure) => !reached(figure)).length;
  log(ok ? "ok: every figure is reached" : `NOT ok: ${missed} of ${figures.length} figures are missed`);
}
