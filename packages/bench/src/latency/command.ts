import Table from "cli-table3";
import { Command, Option } from "commander";
import { wholeNumber } from "../arguments.ts";
import { type Figure, figureTable } from "../figures.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { type Spread, spread } from "../statistics.ts";
import { withCloud } from "../with-cloud.ts";
import { spent, stages } from "./stages.ts";
import { trace } from "./trace.ts";

type Options = { rate: number; seconds: number; atOnce: "on" | "off"; json: boolean };

export type Result = {
  benchmark: "latency";
  machine: Machine;
  options: Options;
  events: number;
  /** Milliseconds, stage by stage. */
  stages: { name: string; milliseconds: Spread }[];
  figures: Figure[];
};

/** Seconds of events before those that are measured. */
const warmUp = 3;

export const latencyCommand = () =>
  new Command("latency")
    .description(
      "Milliseconds from an event on the bus to the provider's acceptance of its email, on the local stack with the schedule beating each minute, and where they go.",
    )
    .option("--rate <n>", "events a second, each telling one person", wholeNumber(), 50)
    .option("--seconds <n>", "seconds of events", wholeNumber(), 40)
    .addOption(
      new Option(
        "--at-once <switch>",
        "whether ingest publishes what its own events owe, or the next sweep does",
      )
        .choices(["on", "off"])
        .default("on"),
    )
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await measureLatency(options);
      print(result, options.json ? console.error : console.log);
      if (options.json) console.log(JSON.stringify(result));
    });

const measureLatency = (options: Options): Promise<Result> =>
  withCloud({ dailyQuota: -1, settings: { ingest: { atOnce: options.atOnce === "on" } } }, async (cloud) => {
    const { rate, seconds } = options;
    const machine = await describeMachine(cloud.ledger);
    cloud.stack.schedule.resume();
    await trace(cloud, warmUp * rate, rate, () => {});
    const ways = await withProgress("events", seconds * rate, (update) =>
      trace(cloud, seconds * rate, rate, update),
    );
    const measured = stages.map((stage) => ({ name: stage.name, milliseconds: spread(spent(ways, stage)) }));
    const whole = measured.find(({ name }) => name === "event to acceptance");
    if (!whole) throw new Error("the whole way is no stage");
    const figures = figuresOf(whole.milliseconds, rate);
    return { benchmark: "latency", machine, options, events: ways.length, stages: measured, figures };
  });

function figuresOf({ p50, p99 }: Spread, rate: number): Figure[] {
  const figure = (name: string, value: number, target: number): Figure => ({
    name: `latency: event to provider's acceptance at ${rate} events/s, ${name}`,
    ...{ value, unit: "ms", target, sense: "at most" },
  });
  return [figure("p50", p50, 300), figure("p99", p99, 1500)];
}

function print(result: Result, log: (text: string) => void): void {
  const { machine, options, events, figures } = result;
  log(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);
  log(
    `${events} events, ${options.rate} a second, at once ${options.atOnce}; all but PostgreSQL in one process`,
  );
  const table = new Table({
    head: ["ms", "min", "p50", "p99", "max"],
    colAligns: ["left", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const { name, milliseconds } of result.stages) {
    const { min, p50, p99, max } = milliseconds;
    table.push([name, ...[min, p50, p99, max].map((value) => value.toFixed(1))]);
  }
  log(table.toString());
  log(figureTable(figures));
}
