import Table from "cli-table3";
import { Command } from "commander";
import { wholeNumber } from "../arguments.ts";
import { addHistory } from "../database/fill.ts";
import { type LedgerDatabase, withLedgerDatabase } from "../database/ledger-database.ts";
import { type Measured, measure, type Summary, summarise } from "../database/measure.ts";
import { type Figure, figureTable, showSeries } from "../figures.ts";
import { describeMachine, type Machine, showMachine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { type Contestant, contestants, type Name } from "./contestants.ts";
import { figuresOf } from "./ledger-figures.ts";

export type Options = { rows: number; runs: number; history: number; json: boolean };

export type Result = {
  benchmark: "ledger";
  machine: Machine;
  options: Options;
  lives: Record<Name, Summary & { name: string; how: string; rows: number; runs: number }>;
  figures: Figure[];
};

export const ledgerCommand = () =>
  new Command("ledger")
    .description(
      "The whole life of a notification in one process, with a channel that takes no time: leased, queued in memory, marked, claimed, delivered. Beside pg-boss and graphile-worker with jobs that do nothing, on the same server.",
    )
    .option("--rows <n>", "notifications in a run", wholeNumber(), 20_000)
    .option("--runs <n>", "of each, one after the other", wholeNumber(), 3)
    .option("--history <n>", "notifications delivered before", wholeNumber(0), 100_000)
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await measureLives(options);
      print(result, options.json ? console.error : console.log);
      if (options.json) console.log(JSON.stringify(result));
    });

export const measureLives = (options: Options): Promise<Result> =>
  withLedgerDatabase(async (database) => {
    await withProgress("notifications delivered before", options.history, (update) =>
      addHistory(database.setUp, options.history, update),
    );
    const measured = await runAll(database, options);
    const lives = Object.fromEntries(
      Object.entries(contestants).map(([key, { name, how }]) => {
        const runs = measured.get(key as Name) ?? [];
        return [key, { name, how, rows: runs[0]?.rows ?? 0, runs: runs.length, ...summarise(runs) }];
      }),
    ) as Result["lives"];
    const machine = await describeMachine(database.setUp);
    return { benchmark: "ledger", machine, options, lives, figures: figuresOf(measured) };
  });

/** Everyone once, and again: what changes on the machine meanwhile meets all of them. */
function runAll(database: LedgerDatabase, { rows, runs }: Options): Promise<Map<Name, Measured[]>> {
  const all = Object.entries(contestants) as [Name, Contestant][];
  return withProgress("runs", runs * all.length, async (update) => {
    const measured = new Map<Name, Measured[]>(all.map(([key]) => [key, []]));
    for (let run = 0; run < runs; run += 1) {
      for (const [place, [key, contestant]] of all.entries()) {
        if (run < (contestant.runs ?? runs))
          measured.get(key)?.push(await runOnce(database, contestant, rows));
        update(run * all.length + place + 1);
      }
    }
    return measured;
  });
}

async function runOnce(database: LedgerDatabase, contestant: Contestant, most: number): Promise<Measured> {
  const rows = contestant.jobs ?? Math.ceil(most * contestant.share);
  await contestant.fill(database, rows);
  const measured = await measure(database.setUp, () => contestant.work(database, rows));
  if (measured.rows !== rows)
    throw new Error(`${contestant.name} worked on ${measured.rows} of ${rows} notifications`);
  return measured;
}

function print({ machine, options, lives, figures }: Result, log: (text: string) => void): void {
  log(showMachine(machine));
  log(`The whole life of ${options.rows} notifications: medians (min … max) of ${options.runs} runs`);
  const table = new Table({
    head: ["", "jobs/s", "statements/job", "WAL bytes/job", "cores, server", "cores, client"],
    colAligns: ["left", "right", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const { name, how, ...life } of Object.values(lives)) {
    const server = life.serverCores === null ? "" : showSeries(life.serverCores);
    const counted = [life.rowsPerSecond, life.statementsPerRow, life.walPerRow].map(showSeries);
    table.push([`${name}\n${how}`, ...counted, server, showSeries(life.clientCores)]);
  }
  log(table.toString());
  log(figureTable(figures));
}
