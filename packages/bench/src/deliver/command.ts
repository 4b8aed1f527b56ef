import Table from "cli-table3";
import { Command } from "commander";
import { wholeNumber } from "../arguments.ts";
import { addHistory, oweRows, settle } from "../database/fill.ts";
import { type LedgerDatabase, withLedgerDatabase } from "../database/ledger-database.ts";
import { type Measured, measure, type Summary, summarise } from "../database/measure.ts";
import { type Figure, figureTable, showSeries } from "../figures.ts";
import { describeMachine, type Machine, showMachine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { receive, rowByRow, together, type Work, workOff } from "./batches.ts";

type Options = { rows: number; runs: number; history: number; json: boolean };

type How = { how: string; atOnce: number };

export type Result = {
  benchmark: "deliver";
  machine: Machine;
  options: Options;
  series: (How & Summary)[];
  figures: Figure[];
};

/** The part of the rows that a run works on: a statement a row takes long. */
const ways: { how: string; work: Work; share: number }[] = [
  { how: "Owed's deliver, batches of ten", work: together, share: 1 },
  { how: "a statement a row", work: rowByRow, share: 0.25 },
];
const variants = [1, 4, 10].flatMap((atOnce) => ways.map((way) => ({ ...way, atOnce })));

export const deliverCommand = () =>
  new Command("deliver")
    .description(
      "The deliver function with a provider that accepts at once: batches of ten messages, one, four and ten batches at once; beside claiming and recording each message by itself.",
    )
    .option("--rows <n>", "notifications in a run", wholeNumber(), 6000)
    .option("--runs <n>", "of each, one after the other", wholeNumber(), 3)
    .option("--history <n>", "notifications delivered before", wholeNumber(0), 50_000)
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await measureDeliver(options);
      print(result, options.json ? console.error : console.log);
      if (options.json) console.log(JSON.stringify(result));
    });

export const measureDeliver = (options: Options): Promise<Result> =>
  withLedgerDatabase(async (database) => {
    const { rows, runs, history } = options;
    await addHistory(database.setUp, history);
    const measured = variants.map((): Measured[] => []);
    await withProgress("runs", runs * variants.length, async (update) => {
      for (let run = 0; run < runs; run += 1)
        for (const [place, variant] of variants.entries()) {
          measured[place]?.push(await runOnce(database, variant, Math.ceil(rows * variant.share)));
          update(run * variants.length + place + 1);
        }
    });
    const series = variants.map(({ how, atOnce }, place) => ({
      ...{ how, atOnce },
      ...summarise(measured[place] ?? []),
    }));
    const machine = await describeMachine(database.setUp);
    return { benchmark: "deliver", machine, options, series, figures: figuresOf(series) };
  });

async function runOnce(
  { setUp, options }: LedgerDatabase,
  variant: { atOnce: number; work: Work },
  rows: number,
): Promise<Measured> {
  await oweRows(setUp, rows);
  const received = await receive(options, rows);
  await settle(setUp);
  const measured = await measure(setUp, () => workOff(options, received, variant));
  if (measured.rows !== rows) throw new Error(`${measured.rows} of ${rows} notifications were delivered`);
  return measured;
}

const figuresOf = (all: Result["series"]): Figure[] =>
  all
    .filter(({ how }) => how === ways[0]?.how)
    .map(({ atOnce, statementsPerRow }) => ({
      ...{ name: `deliver: statements, ${atOnce} at once`, value: statementsPerRow.median, unit: "/row" },
      ...{ target: 0.25, sense: "at most" },
    }));

function print({ machine, options, series, figures }: Result, log: (text: string) => void): void {
  log(showMachine(machine));
  log(`${options.rows} notifications delivered: medians (min … max) of ${options.runs} runs`);
  const table = new Table({
    head: ["", "at once", "rows/s", "statements/row", "WAL bytes/row"],
    colAligns: ["left", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const { how, atOnce, rowsPerSecond, statementsPerRow, walPerRow } of series)
    table.push([how, atOnce, ...[rowsPerSecond, statementsPerRow, walPerRow].map(showSeries)]);
  log(table.toString());
  log(figureTable(figures));
}
