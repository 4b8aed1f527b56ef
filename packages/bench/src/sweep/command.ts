import { Command } from "commander";
import { wholeNumber } from "../arguments.ts";
import { withLedgerDatabase } from "../database/ledger-database.ts";
import type { Figure } from "../figures.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { type AtServiceTime, measureSweep } from "./measure-sweep.ts";
import { print } from "./print.ts";

type Options = {
  rows: number;
  originalRows: number;
  history: number;
  runs: number;
  json: boolean;
};

export type Result = {
  benchmark: "sweep";
  machine: Machine;
  options: Options;
  queues: AtServiceTime[];
  figures: Figure[];
};

/** Milliseconds that the queue takes for a call: at once, and as SQS does. */
const serviceTimes = [0, 8];

export const sweepCommand = () =>
  new Command("sweep")
    .description(
      "Rows leased, published over HTTP and marked per second by the shipped sweep, beside a loop that publishes and marks row by row, and beside the SDK publishing with no ledger.",
    )
    .option("--rows <n>", "rows that the sweep publishes in a run", wholeNumber(10), 30_000)
    .option("--original-rows <n>", "rows that the loop publishes in a run", wholeNumber(10), 1000)
    .option("--history <n>", "delivered rows in the ledger", wholeNumber(0), 100_000)
    .option("--runs <n>", "runs of each", wholeNumber(), 3)
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await measureAll(options);
      print(result, options.json ? console.error : console.log);
      if (options.json) console.log(JSON.stringify(result));
    });

const measureAll = (options: Options): Promise<Result> =>
  withLedgerDatabase(async (database) => {
    const machine = await describeMachine(database.setUp);
    const { rows, originalRows, history, runs } = options;
    // At 8 ms a row the loop takes its time.
    const asked = serviceTimes.map((serviceTime) => ({
      serviceTime,
      sizes: { rows, originalRows: serviceTime === 0 ? originalRows : Math.ceil(originalRows / 4) },
    }));
    const queues = await withProgress("the loop, the sweep, the SDK alone", runs * asked.length, (update) => {
      let done = 0;
      const measured = () => {
        done += 1;
        update(done);
      };
      return measureSweep(database, asked, { history, runs, measured });
    });
    return { benchmark: "sweep", machine, options, queues, figures: queues.flatMap(figuresOf) };
  });

const least: Record<number, number> = { 0: 10, 8: 50 };

function figuresOf({ serviceTime, overOriginal, overAlone }: AtServiceTime): Figure[] {
  const queue = `a queue that answers after ${serviceTime} ms`;
  return [
    {
      ...{ name: `sweep: beside the row-by-row loop, ${queue}`, value: overOriginal.median, unit: "x" },
      ...{ target: least[serviceTime] ?? 1, sense: "at least" },
    },
    {
      ...{ name: `sweep: beside the SDK publishing alone, ${queue}`, value: overAlone.median, unit: "x" },
      ...{ target: 0.8, sense: "at least" },
    },
  ];
}
