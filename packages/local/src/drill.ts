import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Ledger, proveDelivery } from "@owed/ledger";
import { MultiBar, Presets, SingleBar } from "cli-progress";
import Table from "cli-table3";
import { Command, InvalidArgumentError, Option } from "commander";
import { makeBundles } from "../../../infra/bundles/make.ts";
import { happen, registerShipments, sufferOutage } from "./drill/outage.ts";
import { type Proof, prove } from "./drill/proof.ts";
import { goOn } from "./drill/stand-still.ts";
import { printStorm } from "./drill/storm/print.ts";
import { rates, storm } from "./drill/storm/storm.ts";
import { loadBundles } from "./functions.ts";
import { type Stack, startStack } from "./stack.ts";

type Options = {
  scenario: "outage" | "storm";
  rows: number;
  shipments: number;
  seed?: number;
  realTime: boolean;
  killDatabase: boolean;
  bundles: boolean;
  atOnce: boolean;
  json: boolean;
};

/** On scaled time a minute takes a second; what bounds real calls is scaled less, so that they still fit in. */
const scaled = {
  everySeconds: 1,
  outage: 15,
  minute: 1,
  visibility: 8,
  settings: {
    sweep: { budget: 8, every: 1 },
    deliver: { call: 3, callBefore: 3, reserve: 1.5 },
    durations: { lease: 12, sendLease: 6, lostAfter: 20, grace: 15, heartbeat: 10, queueEmpty: 2, settle: 9 },
  },
};
const real = { outage: 15 * 60, minute: 60, settings: {} };

const wholeNumber = (text: string, most: number): number => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > most)
    throw new InvalidArgumentError(`must be a whole number from 1 to ${most}`);
  return number;
};

const upToAMillion = (text: string) => wholeNumber(text, 1_000_000);

const command = new Command("drill")
  .description(
    `Pauses the schedule, lets things happen, resumes it, waits for the drain, and proves from both sides, the ledger and
what arrived, that every notification ended as it should. Uses a ledger of its own.

  outage  fifteen minutes' worth of events, each to be told, and some more during the drain: every notification is sent
          exactly once
  storm   seventy minutes in which shipments change several times, follow-ups fall due, deadlines pass and people opt
          out, by email, SMS and webhook, each with its own rate: everything owed ends in exactly one way, and everybody
          gets as many messages as the rules say`,
  )
  .addOption(new Option("--scenario <name>", "what happens").choices(["outage", "storm"]).default("outage"))
  .option("--rows <n>", "outage: how many notifications are owed at resume", upToAMillion, 2000)
  .option("--shipments <n>", "storm: how many shipments change their status", upToAMillion, 10_000)
  .option("--seed <n>", "storm: the same seed makes the same storm", (text) => wholeNumber(text, 2 ** 32 - 1))
  .option("--real-time", "take the minutes as they are; else one takes a second", false)
  .option("--kill-database", "kill -9 PostgreSQL in the middle of the drain, and start it again", false)
  .option("--bundles", "run the functions as a deployment would upload them, built first", false)
  .option("--no-at-once", "publish by sweeps alone, not what is owed at once right after its event")
  .option("--json", "print one JSON object last", false)
  .addHelpText(
    "after",
    "\nExit code: 0 when nothing was lost or double and the backlog was as large as asked for, else 1.",
  );

/** A ledger and a cloud of the drill's own, for as long as it takes. */
async function withStack<T>(
  options: Options,
  settings: Record<string, unknown>,
  work: (stack: Stack, pace: Pace) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "owed-drill-"));
  const pace: Pace = options.realTime ? real : scaled;
  if (options.bundles) await makeBundles(join(folder, "build"));
  const stack = await startStack({
    folder,
    ...pace,
    settings: { ...pace.settings, ...settings, ingest: { atOnce: options.atOnce } },
    ...(options.bundles && { functions: () => loadBundles(join(folder, "build")) }),
    // Nobody's limit but the machine's: a backlog may be larger than a day's quota.
    dailyQuota: -1,
  });
  try {
    return await work(stack, pace);
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type Pace = typeof scaled | typeof real;

/** One bar on a terminal that is renamed as the work goes on, nothing elsewhere. */
function stages() {
  if (!process.stderr.isTTY) return { show: () => {}, stop: () => {} };
  const bar = new SingleBar(
    { format: "{name} {bar} {value}/{total} {duration_formatted}", stream: process.stderr },
    Presets.shades_classic,
  );
  let current = "";
  return {
    show(name: string, done: number, total: number) {
      if (name !== current) {
        if (current !== "") bar.stop();
        bar.start(total, 0, { name: name.padEnd(10) });
        current = name;
      }
      bar.update(Math.min(Math.round(done), total), { name: name.padEnd(10) });
    },
    stop: () => bar.stop(),
  };
}

/** Bars on a terminal, nothing elsewhere. */
function progress(total: number) {
  if (!process.stderr.isTTY) return { owed: () => {}, sent: () => {}, stop: () => {} };
  const bars = new MultiBar(
    { format: "{name} {bar} {value}/{total}", stream: process.stderr },
    Presets.shades_classic,
  );
  const owed = bars.create(total, 0, { name: "owed     " });
  const sent = bars.create(total, 0, { name: "delivered" });
  return {
    owed: (count: number) => owed.update(Math.min(count, total)),
    sent: (count: number) => sent.update(Math.min(count, total)),
    stop: () => bars.stop(),
  };
}

async function drill(options: Options, stack: Stack, pace: Pace): Promise<Proof & { drained_in_s: number }> {
  const ledger = new Ledger(stack.ledgerOptions);
  const bars = progress(options.rows);
  try {
    const outage = await sufferOutage({
      stack,
      ledger,
      rows: options.rows,
      seconds: pace.outage,
      progress: bars.owed,
    });
    const { owed } = outage;
    // As many as a tenth come while it drains.
    const late = await registerShipments(ledger, Math.ceil(options.rows / 20));
    const resumed = performance.now();
    await goOn(stack, ledger);
    const over = new AbortController();
    const killed = options.killDatabase ? killInTheMiddle(stack, owed, over.signal) : Promise.resolve();
    const expected = outage.expected + (await happen(stack, late, 2 * pace.minute));
    await Promise.all([killed, drained(ledger, stack, expected, bars.sent).finally(() => over.abort())]);
    const drained_in_s = Math.round(performance.now() - resumed) / 1000;
    const proof = await prove(ledger, stack.ses.sent, { owed, expected, asked: options.rows });
    return { ...proof, drained_in_s };
  } finally {
    bars.stop();
    await ledger.close();
  }
}

/** Waits until so many notifications are there, and none is unfinished. Gives up when nothing has moved for five minutes: the proof then says what is lost. */
async function drained(
  ledger: Ledger,
  stack: Stack,
  rows: number,
  sent: (count: number) => void,
): Promise<void> {
  let moved = performance.now();
  for (let before = rows; ; await sleep(100)) {
    const told = await proveDelivery(ledger).catch(() => null);
    const left = told && Math.max(rows - told.rows, 0) + told.unfinished;
    sent(stack.ses.sent.length);
    if (left === 0) return;
    if (left !== null && left < before) {
      before = left;
      moved = performance.now();
    }
    if (performance.now() - moved > 300_000) return;
  }
}

async function killInTheMiddle(stack: Stack, owed: number, over: AbortSignal): Promise<void> {
  while (stack.ses.sent.length < owed / 3 && !over.aborted) await sleep(10);
  await stack.postgres.kill();
  await stack.restartPostgres();
}

function print(proof: Proof & { drained_in_s: number }): void {
  const table = new Table({ style: { head: [], border: [] } });
  table.push(
    ["owed when the schedule was resumed", proof.owed],
    ["delivered, by the ledger", proof.delivered],
    ["emails in the mailbox", proof.emails],
    ["lost", proof.lost],
    ["duplicates", proof.duplicates],
    ["outcome unknown at some time", proof.unknown],
    ["possible duplicates counted", proof.possible_duplicates],
    ["drained in", `${proof.drained_in_s} s`],
  );
  console.log(table.toString());
  console.log(proof.ok ? "ok: every owed notification was sent exactly once" : "NOT ok");
}

// An early end still stops PostgreSQL, which ends with this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
command.parse();
for (const [option, scenario] of [
  ["rows", "outage"],
  ["shipments", "storm"],
  ["seed", "storm"],
] as const)
  if (command.getOptionValueSource(option) === "cli" && command.opts<Options>().scenario !== scenario)
    command.error(`--${option} is for the scenario ${scenario}`);
const options = command.opts<Options>();
const result = options.scenario === "storm" ? await stormed() : await suffered();
// The functions keep their connections for the next invocation, as on Lambda; here nothing comes any more.
process.exit(result.ok ? 0 : 1);

async function suffered(): Promise<{ ok: boolean }> {
  const proof = await withStack(options, {}, (stack, pace) => drill(options, stack, pace));
  if (options.json) console.log(JSON.stringify(proof));
  else print(proof);
  return proof;
}

async function stormed(): Promise<{ ok: boolean }> {
  const bar = stages();
  const limits = Object.fromEntries(Object.entries(rates).map(([channel, rate]) => [channel, { rate }]));
  const { shipments, seed } = options;
  const report = await withStack(options, { limits }, (stack, { minute }) =>
    storm(stack, { shipments, minute, ...(seed !== undefined && { seed }), progress: bar.show }),
  ).finally(bar.stop);
  if (options.json) console.log(JSON.stringify(report));
  else printStorm(report);
  return report;
}
