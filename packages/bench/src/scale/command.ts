import { readFile } from "node:fs/promises";
import { Command, InvalidArgumentError } from "commander";
import { wholeNumber } from "../arguments.ts";
import type { Usage } from "../cost/bill.ts";
import type { Result as Cost } from "../cost/command.ts";
import type { Fixed } from "../cost/fixed.ts";
import { prices } from "../cost/prices.ts";
import { readRuns, textOf } from "../plot/runs.ts";
import { countedWork, production } from "./counted.ts";
import { assumed, type Limit, limitsOf } from "./limits.ts";
import { type Measured, measuredIn } from "./measured.ts";
import { type Month, monthOf, productionOf } from "./month.ts";
import { print } from "./print.ts";
import { quotas } from "./quotas.ts";

type Options = { month: number[]; peak: number; cost?: string; markdown: boolean; json: boolean };

export type Result = {
  benchmark: "scale";
  options: Options;
  /** Where the prices and the quotas were read, and when. */
  prices: string;
  quotas: string;
  measured: Measured;
  assumed: typeof assumed;
  limits: Limit[];
  months: Month[];
};

export const scaleCommand = () =>
  new Command("scale")
    .description(
      "On paper: what one AWS region carries by its quotas and by what was measured here, where the first limit lies, and what a month costs.",
    )
    .argument("<file...>", "what `bench all --out <file>` wrote, a file for each run")
    .option("--month <n,n…>", "notifications in a month", numbers, [1_000_000, 100_000_000])
    .option("--peak <n>", "times the month's average that come in its busiest minutes", wholeNumber(), 10)
    .option("--cost <file>", "what `bench cost --json` printed; without it, what it counted in November 2026")
    .option("--markdown", "print the tables as Markdown", false)
    .option("--json", "print one JSON object last", false)
    .action(async (files: string[], options: Options, command: Command) => {
      const result = await reckon(files, options).catch((error: unknown) =>
        command.error(`error: ${textOf(error)}`),
      );
      if (options.json) console.log(JSON.stringify(result));
      else print(result, console.log);
    });

async function reckon(files: readonly string[], options: Options): Promise<Result> {
  const measured = measuredIn(await readRuns(files));
  const counted =
    options.cost === undefined ? { work: countedWork, fixed: production } : await readCost(options.cost);
  return {
    ...{
      benchmark: "scale",
      options,
      prices: `${prices.region}, ${prices.date}`,
      quotas: `eu-west-1, ${quotas.date}`,
    },
    ...{ measured, assumed, limits: limitsOf(measured, productionOf(counted.fixed)) },
    months: options.month.map((notifications) =>
      monthOf(measured, counted, { notifications, peakFactor: options.peak }),
    ),
  };
}

/** @throws Error for a file with anything else in it */
async function readCost(file: string): Promise<{ work: Usage; fixed: Fixed }> {
  const cost: unknown = JSON.parse(await readFile(file, "utf8"));
  if (!isCost(cost)) throw new Error(`${file} is no result of bench cost: make one with bench cost --json`);
  return { work: cost.measured.work, fixed: cost.fixed };
}

const isCost = (value: unknown): value is Cost => Object(value).benchmark === "cost";

/** @throws InvalidArgumentError for anything but whole numbers */
function numbers(text: string): number[] {
  const all = text.split(",").map(Number);
  if (all.every((number) => Number.isInteger(number) && number > 0)) return all;
  throw new InvalidArgumentError("must be whole numbers, such as 1000000,100000000");
}
