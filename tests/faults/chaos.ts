import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import fc from "fast-check";
import { wholeNumber } from "../../packages/bench/src/arguments.ts";
import { startProgress } from "../../packages/bench/src/progress.ts";
import { anyHistory, describe, type History } from "./action.ts";
import { type Played, play } from "./play.ts";
import { World } from "./world/world.ts";

type Options = { seed: number; minutes: number; only: boolean; json: boolean };

type Failure = { seed: number; problems: string[]; history: History; shrunk: History };

type Result = {
  ok: boolean;
  seed: number;
  minutes: number;
  histories: number;
  actions: number;
  notifications: number;
  delivered: number;
  lost: number;
  duplicates: number;
  uncounted: number;
  counted_unknown: number;
  /** Minutes of the ledger's time that the longest recovery took. */
  recovery_minutes: number;
  failures: Failure[];
};

/** Minutes that a failing history is shrunk for, at most. */
const shrinking = 5;

const command = new Command("chaos")
  .description(
    "Breaks everything, at random: plays one history after the other of events, faults, killed and frozen processes\nagainst the whole system, lets each recover, and compares the ledger with every email that the provider accepted.",
  )
  .option("--seed <n>", "of the first history; each one after it has the next", wholeNumber(0), 1)
  .option("--minutes <n>", "no history is begun after so many", wholeNumber(), 20)
  .option("--only", "play the history of this seed alone", false)
  .option("--json", "print one JSON object last", false)
  .addHelpText("after", "\nExit code: 0 when nothing was lost and every duplicate was counted, else 1.");

async function chaos({ seed, minutes, only }: Options): Promise<Result> {
  const started = performance.now();
  const past = () => (performance.now() - started) / 60_000;
  const total: Result = {
    ...{
      ok: true,
      seed,
      minutes: 0,
      histories: 0,
      actions: 0,
      recovery_minutes: 0,
      failures: [],
      ...nothing,
    },
  };
  const progress = startProgress("minutes of chaos", only ? 1 : minutes);
  let world = await World.start();
  for (let next = seed; next === seed || (!only && past() < minutes); next += 1) {
    const history = historyOf(next);
    const began = performance.now();
    const played = await playIn(world, next, history);
    tell(next, history, played, performance.now() - began);
    add(total, history, played);
    if (!played.ok) {
      console.error(`seed ${next}:\n${describe(history)}\n${played.problems.join("\n")}`);
      // What went wrong may have left its traces.
      await world.stop();
      const shrunk = await shrink(next);
      console.error(`shrunk:\n${describe(shrunk)}`);
      total.failures.push({ seed: next, problems: played.problems, history, shrunk });
      world = await World.start();
    }
    progress.update(Math.floor(past()));
  }
  progress.stop();
  await world.stop();
  return { ...total, ok: total.failures.length === 0, minutes: Math.round(past() * 10) / 10 };
}

/** A line a history, so that whoever watches sees what has been played. */
function tell(seed: number, history: History, played: Played, milliseconds: number): void {
  const { ok, notifications, duplicates, counted_unknown: counted, minutes } = played;
  const figures = `${notifications} notifications, ${duplicates} duplicates, ${counted} counted, recovered in ${minutes} min`;
  const took = `${Math.round(milliseconds / 1000)} s`;
  console.error(`seed ${seed}: ${ok ? "ok" : "FAILED"}, ${history.length} actions, ${figures} (${took})`);
}

function historyOf(seed: number): History {
  const [history] = fc.sample(anyHistory, { seed, numRuns: 1 });
  if (!history) throw new Error("fast-check made no history");
  return history;
}

/** What is added up from history to history. */
const nothing = { notifications: 0, delivered: 0, lost: 0, duplicates: 0, uncounted: 0, counted_unknown: 0 };

/** Seconds of real time after which a history counts as stuck. */
const patience = 300;

async function tooLong(): Promise<never> {
  await sleep(patience * 1000, undefined, { ref: false });
  throw new Error(`it was not over after ${patience} s`);
}

/** Of four seeds one plays by sweeps alone. */
async function playIn(world: World, seed: number, history: History): Promise<Played> {
  try {
    await world.publishAtOnce(seed % 4 !== 3);
    return await Promise.race([play(world, history), tooLong()]);
  } catch (error) {
    const problems = [`it could not be played: ${error instanceof Error ? error.stack : String(error)}`];
    return { ok: false, ...nothing, problems, minutes: null };
  }
}

/** The shortest history found that fails as well; the whole one when it does not fail again. */
async function shrink(seed: number): Promise<History> {
  const fails = fc.asyncProperty(anyHistory, async (history) => {
    const world = await World.start();
    try {
      return (await playIn(world, seed, history)).ok;
    } finally {
      await world.stop();
    }
  });
  const found = await fc.check(fails, { seed, numRuns: 1, interruptAfterTimeLimit: shrinking * 60_000 });
  return found.counterexample?.[0] ?? historyOf(seed);
}

function add(total: Result, history: History, played: Played): void {
  total.histories += 1;
  total.actions += history.length;
  for (const name of Object.keys(nothing) as (keyof typeof nothing)[]) total[name] += played[name];
  total.recovery_minutes = Math.max(total.recovery_minutes, played.minutes ?? 0);
}

function print({ failures, ...figures }: Result): void {
  console.table({ ...figures, failures: failures.length });
  console.log(figures.ok ? "ok: nothing lost, every duplicate counted" : "NOT ok: what failed stands above");
}

// An early end still stops PostgreSQL, which ends with this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
command.parse();
const options = command.opts<Options>();
const result = await chaos(options);
if (options.json) console.log(JSON.stringify(result));
else print(result);
process.exit(result.ok ? 0 : 1);
