import { Command } from "commander";
import { wholeNumber } from "../arguments.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { type Cloud, withCloud } from "../with-cloud.ts";
import { fateTable, windowTable } from "./print.ts";
import { type Reconciliation, reconcileKills } from "./reconcile.ts";
import { measureWindow, type Window } from "./window.ts";

export type Options = {
  rows: number;
  kills: number;
  killsWithoutEvents: number;
  minutes: number;
  seed: number;
  json: boolean;
};

export type Result = {
  benchmark: "unknown";
  machine: Machine;
  options: Options;
  windows: Window[];
  /** With the provider's events, and with all of them lost. */
  proven: Reconciliation;
  unproven: Reconciliation;
  /** Nothing lost, nothing unfinished, every duplicate counted; and none at all where the events came. */
  ok: boolean;
};

export const unknownCommand = () =>
  new Command("unknown")
    .description(
      "The unknown-outcome window: how long it is while nothing goes wrong, and what the reconciliation makes of deliver workers killed at random moments, with the provider's events and without them.",
    )
    .option("--rows <n>", "notifications delivered for each window measured", wholeNumber(), 2000)
    .option("--kills <n>", "workers killed while the provider's events come", wholeNumber(0), 1000)
    .option("--kills-without-events <n>", "workers killed while they are lost", wholeNumber(0), 200)
    .option("--minutes <n>", "of either at most: what was done by then is told", wholeNumber(), 60)
    .option("--seed <n>", "of the kills' moments", wholeNumber(0), 1)
    .option("--json", "print one JSON object last", false)
    .addHelpText("after", "\nExit code: 0 when nothing was lost and every duplicate was counted, else 1.")
    .action(async (options: Options) => {
      const result = await measure(options);
      if (options.json) console.log(JSON.stringify(result));
      else console.log(result.ok ? "ok: nothing lost, every duplicate counted" : "NOT ok");
      process.exitCode = result.ok ? 0 : 1;
    });

/** Milliseconds after which the provider answers: at once, and as a real one may. */
const providers = [0, 50];

/** Notifications delivered before anything is measured. */
const warmUp = 200;

const measure = (options: Options): Promise<Result> =>
  // A killed worker's message comes again when the benchmark says so, and never by itself.
  withCloud({ visibility: 3600 }, async (cloud) => {
    // Nor is it to meet the provider's daily quota.
    cloud.stack.ses.quota.max24HourSend = 1_000_000_000;
    return await measureParts(cloud, options);
  });

/** Each part is told when it is done, since all of them together take long. */
async function measureParts(cloud: Cloud, options: Options): Promise<Result> {
  const { rows, seed } = options;
  const say = (text: string) => {
    if (!options.json) console.log(text);
  };
  const machine = await describeMachine(cloud.ledger);
  say(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);

  await measureWindow(cloud, warmUp, 0, () => {});
  const windows: Window[] = [];
  for (const provider of providers) {
    const name = `delivered, the provider answers after ${provider} ms`;
    windows.push(await withProgress(name, rows, (update) => measureWindow(cloud, rows, provider, update)));
  }
  say(`\nThe window while nothing goes wrong, in ms (${rows} notifications each)\n${windowTable(windows)}`);

  const kill = async (name: string, kills: number, noEvent: boolean) => {
    const work = (progress: (killed: number) => void) =>
      reconcileKills(cloud, { ...options, kills, noEvent, progress });
    const made = await withProgress(name, kills, work);
    if (kills > 0)
      say(`\n${name} (seed ${seed}): notifications by the moment of the kill\n${fateTable(made)}`);
    return made;
  };
  const proven = await kill("workers killed", options.kills, false);
  const unproven = await kill("workers killed, events lost", options.killsWithoutEvents, true);
  const holds = ({ lost, uncounted, notFinished }: Reconciliation) => lost + uncounted + notFinished === 0;
  const ok = holds(proven) && holds(unproven) && proven.duplicates === 0;
  return { benchmark: "unknown", machine, options, windows, proven, unproven, ok };
}
