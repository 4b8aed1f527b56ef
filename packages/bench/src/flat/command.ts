import Table from "cli-table3";
import { Command, InvalidArgumentError } from "commander";
import { wholeNumber } from "../arguments.ts";
import { addHistory, oweRows, settle } from "../database/fill.ts";
import { type LedgerDatabase, withLedgerDatabase } from "../database/ledger-database.ts";
import { withSecondDatabase } from "../database/second-database.ts";
import { type Figure, figureTable, type Series, series, showNumber, showSeries } from "../figures.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { beat } from "./leasing.ts";
import { oweAnew, type Size, sizeOf } from "./owed.ts";

type Options = { rows: number; runs: number; history: number[]; json: boolean };

/** Rates in rows a second, beside a ledger of the first size in the same minute. */
type Measured = { history: number; size: Size; rate: Series; beside: Series; ratio: Series };

export type Result = {
  benchmark: "flat";
  machine: Machine;
  options: Options;
  sizes: Measured[];
  figures: Figure[];
};

export const flatCommand = () =>
  new Command("flat")
    .description(
      "Whether leasing slows down as the ledger's history grows: what is owed is leased and marked by the sweep's own loop in a ledger that grows, by turns with one that stays at the first size.",
    )
    .option("--rows <n>", "rows owed", wholeNumber(), 50_000)
    .option("--runs <n>", "runs of each size", wholeNumber(), 3)
    .option("--history <n,n…>", "delivered notifications, ascending", sizes, [100_000, 1_000_000, 10_000_000])
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await withLedgerDatabase((large) =>
        withSecondDatabase(large, (small) => measure(large, small, options)),
      );
      print(result, options.json ? console.error : console.log);
      if (options.json) console.log(JSON.stringify(result));
    });

/** @throws InvalidArgumentError for anything but whole numbers, each larger than the one before it */
export function sizes(text: string): number[] {
  const numbers = text.split(",").map(Number);
  if (!numbers.every((size, place) => Number.isInteger(size) && size > (numbers[place - 1] ?? 0)))
    throw new InvalidArgumentError("must be whole numbers, each larger than the one before it");
  return numbers;
}

async function measure(large: LedgerDatabase, small: LedgerDatabase, options: Options): Promise<Result> {
  const [first = 0] = options.history;
  for (const { setUp } of [large, small]) {
    await addHistory(setUp, first);
    await oweRows(setUp, options.rows);
    await settle(setUp);
  }
  const measured: Measured[] = [];
  let there = first;
  for (const history of options.history) {
    await grow(large, history - there);
    there = history;
    measured.push(await measureSize(large, small, history, options));
  }
  const figures = measured.slice(1).map(
    ({ history, ratio }): Figure => ({
      name: `flat: leasing with ${showNumber(history)} rows of history, beside ${showNumber(first)}`,
      ...{ value: ratio.median, unit: "x", target: 0.9, sense: "at least" },
    }),
  );
  return {
    ...{ benchmark: "flat", machine: await describeMachine(large.setUp), options, sizes: measured, figures },
  };
}

async function grow({ setUp }: LedgerDatabase, rows: number): Promise<void> {
  if (rows === 0) return;
  await withProgress("rows of history", rows, (update) => addHistory(setUp, rows, update));
  await settle(setUp);
}

async function measureSize(
  large: LedgerDatabase,
  small: LedgerDatabase,
  history: number,
  { rows, runs }: Options,
): Promise<Measured> {
  const rates = { large: [] as number[], small: [] as number[] };
  // Once before, so that no cache is cold.
  for (const database of [large, small]) await rateOf(database, rows);
  await withProgress(`leasing with ${showNumber(history)} rows of history`, runs, async (update) => {
    for (let run = 1; run <= runs; run += 1) {
      rates.large.push(await rateOf(large, rows));
      rates.small.push(await rateOf(small, rows));
      update(run);
    }
  });
  return {
    history,
    size: await sizeOf(large.setUp),
    rate: series(rates.large),
    beside: series(rates.small),
    ratio: series(rates.large.map((rate, run) => rate / (rates.small[run] ?? Number.NaN))),
  };
}

/** Rows a second, and everything is owed again afterwards. */
async function rateOf(database: LedgerDatabase, rows: number): Promise<number> {
  const { lease } = await beat(database, rows);
  await oweAnew(database.setUp, rows);
  return rows / lease;
}

function print({ machine, options, sizes, figures }: Result, log: (text: string) => void): void {
  log(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);
  log(`${options.rows} rows leased and marked, in rows/s: medians (min … max) of ${options.runs} runs`);
  const table = new Table({
    head: ["history", "on disk, MB", "rows/s", `beside ${showNumber(options.history[0] ?? 0)}`, "ratio"],
    colAligns: ["right", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const { history, size, rate, beside, ratio } of sizes)
    table.push([
      showNumber(history),
      showNumber(size.megabytes),
      showSeries(rate),
      showSeries(beside),
      showSeries(ratio),
    ]);
  log(table.toString());
  log(figureTable(figures));
}
