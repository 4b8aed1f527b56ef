import Table from "cli-table3";
import { Command } from "commander";
import { wholeNumber } from "../arguments.ts";
import { withLedgerDatabase } from "../database/ledger-database.ts";
import { withSecondDatabase } from "../database/second-database.ts";
import { type Figure, figureTable, showNumber, showSeries } from "../figures.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { type Churn, type ChurnOptions, measureChurn } from "./churn.ts";
import { type Leasing, measurePressure, type Pressure, type PressureOptions } from "./pressure.ts";

type Options = PressureOptions & ChurnOptions & { json: boolean };

export type Result = {
  benchmark: "pressure";
  machine: Machine;
  options: Options;
  pressure: Pressure;
  churn: Churn;
  figures: Figure[];
};

export const pressureCommand = () =>
  new Command("pressure")
    .description(
      "Whether leasing slows down beside a transaction that stays open while a backlog drains, and whether table and index grow in an hour of work.",
    )
    .option("--rows <n>", "rows leased and marked in a run", wholeNumber(), 50_000)
    .option("--drained <n>", "rows drained before, beside the long transaction", wholeNumber(), 400_000)
    .option("--runs <n>", "runs with and without it", wholeNumber(), 3)
    .option("--minutes <n>", "minutes of work", wholeNumber(3), 60)
    .option("--each <n>", "rows of each minute", wholeNumber(), 3000)
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await measure(options);
      print(result, options.json ? console.error : console.log);
      if (options.json) console.log(JSON.stringify(result));
    });

async function measure(options: Options): Promise<Result> {
  const { machine, pressure } = await withLedgerDatabase((held) =>
    withSecondDatabase(held, async (free) => ({
      machine: await describeMachine(held.setUp),
      pressure: await measurePressure(held, free, options),
    })),
  );
  const churn = await withLedgerDatabase((database) => measureChurn(database, options));
  const drained = showNumber(options.drained);
  return {
    ...{ benchmark: "pressure", machine, options, pressure, churn },
    figures: [
      {
        ...{
          name: `pressure: leasing beside a long transaction, ${drained} rows drained before, beside none`,
          value: pressure.ratio.median,
        },
        ...{ unit: "x", target: 0.9, sense: "at least" },
      },
      {
        ...{
          name: "churn: the owed index at the end of the hour, beside two thirds of it",
          value: churn.indexGrowth,
        },
        ...{ unit: "x", target: 1.1, sense: "at most" },
      },
      {
        ...{
          name: "churn: the table's bytes a row at the end of the hour, beside two thirds of it",
          value: churn.tableGrowth,
        },
        ...{ unit: "x", target: 1.1, sense: "at most" },
      },
    ],
  };
}

function print({ machine, options, pressure, churn, figures }: Result, log: (text: string) => void): void {
  log(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);
  log(
    `${options.rows} rows leased and marked: medians (min … max) of ${options.runs} runs, of beats in milliseconds`,
  );
  const table = new Table({
    head: ["", "rows/s", "a beat's beginning", "its end", "both, nothing owed", "owed index, MB"],
    colAligns: ["left", "right", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  const row = (name: string, { rate, begin, finish, idle, size }: Leasing) =>
    table.push([
      name,
      ...[rate, begin, finish, idle].map((values) => showSeries(values)),
      showNumber(size.owedIndex),
    ]);
  row("beside a long transaction", pressure.held);
  row("without", pressure.free);
  log(table.toString());
  log(`ratio of leasing ${showSeries(pressure.ratio)}, of whole beats ${showSeries(pressure.wholeBeats)}`);
  const last = churn.sizes.at(-1);
  if (last)
    log(
      `after ${options.minutes} minutes with ${options.each} rows each: ${showNumber((last.table / last.rows) * 1e6)} bytes of table a row, ${showNumber(last.owedIndex)} MB of owed index`,
    );
  log(figureTable(figures));
}
