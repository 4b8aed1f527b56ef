import Table from "cli-table3";
import { Command } from "commander";
import { wholeNumber } from "../arguments.ts";
import { type Figure, figureTable, type Series, series, showNumber, showSeries } from "../figures.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { type Cloud, withCloud } from "../with-cloud.ts";
import { countStatements, disconnectSweep, passRetentionsHour, readStatements, since } from "./statements.ts";

type Options = { runs: number; json: boolean };

/** Of one beat: its statements, its calls of any queue, and its milliseconds. */
type Beat = { statements: Series; queueCalls: Series; milliseconds: Series };

export type Result = {
  benchmark: "idle";
  machine: Machine;
  options: Options;
  /** On the connection of the beat before; on a new one, as a minute's beat is on Lambda; the beat of each hour that looks for history that is over. */
  beats: { connected: Beat; reconnecting: Beat; hourly: Beat };
  /** Statements of an hour with nothing owed, divided by its minutes. */
  statementsEachMinute: number;
  /** What the sweep ran in all. */
  statements: Record<string, number>;
  figures: Figure[];
};

export const idleCommand = () =>
  new Command("idle")
    .description(
      "What a minute with nothing owed costs: the sweep's statements, and its calls of the queues.",
    )
    .option("--runs <n>", "beats of each kind", wholeNumber(), 8)
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await withCloud({}, (cloud) => measure(cloud, options));
      print(result, options.json ? console.error : console.log);
      if (options.json) console.log(JSON.stringify(result));
    });

async function measure(cloud: Cloud, options: Options): Promise<Result> {
  const { stack, ledger } = cloud;
  // Their empty receives are no beat's.
  await Promise.all(Object.values(stack.sources).map((source) => source.pause()));
  await countStatements(ledger);
  const first = await readStatements(ledger, "owed_sweep");
  await stack.schedule.trigger();
  const beats = await withProgress("beats with nothing owed", 3 * options.runs, async (update) => {
    let done = 0;
    const beatsOf = (before: () => Promise<unknown>) =>
      measureBeats(cloud, options.runs, before, () => update(++done));
    return {
      connected: await beatsOf(async () => {}),
      reconnecting: await beatsOf(() => disconnectSweep(ledger)),
      hourly: await beatsOf(() => passRetentionsHour(ledger)),
    };
  });
  const now = await readStatements(ledger, "owed_sweep");
  const { statements, queueCalls } = beats.reconnecting;
  return {
    ...{ benchmark: "idle", machine: await describeMachine(ledger), options, beats },
    statementsEachMinute: (59 * statements.median + beats.hourly.statements.median) / 60,
    statements: Object.fromEntries(
      [...now].map(([query, calls]) => [query, calls - (first.get(query) ?? 0)]),
    ),
    figures: [
      {
        ...{ name: "idle: statements of a minute with nothing owed", value: statements.max },
        ...{ unit: "statements", target: 2, sense: "at most" },
      },
      {
        ...{ name: "idle: queue calls of a minute with nothing owed", value: queueCalls.max },
        ...{ unit: "calls", target: 0, sense: "at most" },
      },
    ],
  };
}

async function measureBeats(
  { stack, ledger }: Cloud,
  runs: number,
  before: () => Promise<unknown>,
  done: () => void,
): Promise<Beat> {
  const counts = { statements: [] as number[], queueCalls: [] as number[], milliseconds: [] as number[] };
  for (let run = 0; run < runs; run += 1) {
    await before();
    const statements = await readStatements(ledger, "owed_sweep");
    let calls = 0;
    const stop = stack.sqs.faults.observe(() => {
      calls += 1;
    });
    const start = performance.now();
    await stack.schedule.trigger();
    counts.milliseconds.push(performance.now() - start);
    stop();
    counts.queueCalls.push(calls);
    counts.statements.push(since(statements, await readStatements(ledger, "owed_sweep")));
    done();
  }
  return {
    statements: series(counts.statements),
    queueCalls: series(counts.queueCalls),
    milliseconds: series(counts.milliseconds),
  };
}

function print(result: Result, log: (text: string) => void): void {
  const { machine, options, beats, statementsEachMinute, statements, figures } = result;
  log(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);
  log(`Medians (min … max) of ${options.runs} beats each; nothing is owed`);
  const table = new Table({
    head: ["beat", "statements", "queue calls", "ms"],
    colAligns: ["left", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  const row = (name: string, beat: Beat) =>
    table.push([
      name,
      showSeries(beat.statements),
      showSeries(beat.queueCalls),
      showSeries(beat.milliseconds),
    ]);
  row("connected", beats.connected);
  row("on a new connection", beats.reconnecting);
  row("that looks for history, each hour", beats.hourly);
  log(table.toString());
  log(`Over an hour ${showNumber(statementsEachMinute)} statements a minute, of these:`);
  for (const [query, calls] of Object.entries(statements)) log(`  ${calls} × ${query.slice(0, 100)}`);
  log(figureTable(figures));
}
