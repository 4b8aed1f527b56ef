import { Command } from "commander";
import { wholeNumber } from "../arguments.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { type Cloud, withCloud } from "../with-cloud.ts";
import { costOfUsage, type Line, scaled, type Usage } from "./bill.ts";
import { type Fixed, fixedCosts, readFixed } from "./fixed.ts";
import { minutesOfMonth, prices } from "./prices.ts";
import { print } from "./print.ts";
import { idle, recover, toldByEach, work } from "./work.ts";

type Options = { month: number; minutes: number; outage: number; latency: number; json: boolean };

export type Result = {
  benchmark: "cost";
  machine: Machine;
  options: Options;
  prices: string;
  fixed: Fixed;
  measured: { idle: Usage; work: Usage; outage: Usage & { drained: number } };
  /** In dollars: what stands there anyway, a month of nothing, a month of notifications, and an outage made up for. */
  dollars: { fixed: Line[]; idle: Line[]; month: Line[]; outage: Line[] };
};

export const costCommand = () =>
  new Command("cost")
    .description(
      "What a month costs on AWS: requests, invocations and statements are counted on this machine, at the pace of that month, and multiplied by AWS's prices.",
    )
    .option("--month <n>", "notifications in a month", wholeNumber(), 1_000_000)
    .option("--minutes <n>", "minutes of that month to be measured, in six seconds each", wholeNumber(), 10)
    .option("--outage <n>", "minutes that the schedule is paused", wholeNumber(), 70)
    .option("--latency <n>", "milliseconds that the provider takes for an email", wholeNumber(0), 60)
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await measure(options);
      if (options.json) console.log(JSON.stringify(result));
      else print(result);
    });

async function measure(options: Options): Promise<Result> {
  const fixed = await readFixed();
  return await withCloud({ dailyQuota: -1 }, async (cloud) => {
    cloud.stack.ses.faults.add(() => ({ delay: options.latency }));
    const machine = await describeMachine(cloud.ledger);
    const measured = await measureParts(cloud, options);
    return {
      benchmark: "cost",
      machine,
      options,
      prices: `${prices.region}, ${prices.date}`,
      fixed,
      measured,
      dollars: {
        fixed: fixedCosts(fixed),
        idle: costOfUsage(monthOf(measured.idle)),
        month: costOfUsage(scaled(measured.work, options.month)),
        outage: costOfUsage(measured.outage),
      },
    };
  });
}

async function measureParts(cloud: Cloud, { month, minutes, outage }: Options): Promise<Result["measured"]> {
  const events = Math.max(1, Math.round(month / minutesOfMonth / toldByEach));
  return {
    idle: await withProgress("minutes with nothing owed", minutes, (update) => idle(cloud, minutes, update)),
    work: await withProgress("minutes of work", minutes, (update) => work(cloud, minutes, events, update)),
    outage: await withProgress("minutes of an outage", outage, (update) =>
      recover(cloud, outage, events, update),
    ),
  };
}

/** Idle minutes, for a whole month. */
const monthOf = (usage: Usage): Usage => ({
  ...usage,
  minutes: minutesOfMonth,
  functions: Object.fromEntries(
    Object.entries(usage.functions).map(([name, { invocations, seconds }]) => [
      name,
      {
        invocations: (invocations / usage.minutes) * minutesOfMonth,
        seconds: (seconds / usage.minutes) * minutesOfMonth,
      },
    ]),
  ),
});
