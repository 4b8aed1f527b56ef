import {
  type Ledger,
  type MerchantMode,
  type Mode,
  type ModeSet,
  type Modes,
  modes,
  readModes,
  setMode,
  setNewMerchants,
} from "@owed/ledger";
import { type Command, Option } from "commander";
import { actorOf, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { exitCodes, Failure } from "../errors.ts";
import type { Result } from "../output.ts";
import { type Fates, moveRows } from "../rollout/move-rows.ts";
import { withBar } from "../text/bar.ts";
import { table } from "../text/table.ts";
import { time } from "../text/time.ts";
import { plural } from "../text/words.ts";

/** Minutes: owed.old_claim_ends in the ledger. */
const claimStands = 15;

type Options = {
  merchant?: string;
  newMerchants?: Mode;
  to?: Mode;
  past?: "send" | "cancel";
  unheardToo?: true;
  why?: string;
  dryRun?: true;
};

type Cutover = {
  merchant: string;
  to: Mode;
  past: "send" | "cancel" | null;
  unheardToo: boolean;
  why: string;
  actor: string;
  dryRun: boolean;
};

export function cutover(program: Command, run: Run): void {
  teach(program, "cutover", {
    summary: "who sends for a merchant: the old sender, or Owed; and back",
    description:
      "A merchant's mode says who sends: old, the old sender; shadow, the old one while Owed is watched beside it; owed, Owed. The mode changes first, for new events; then the merchant's waiting notifications follow, a thousand in a transaction. None is in two senders' hands, or in nobody's, at any time, and a run that broke off is run again. To owed: those that the old sender is at work on (claimed within 15 minutes) stay with it, and are taken up by running the same command again; those that were due by now and that nobody sent need --past. Back: what a sweep, the queue or a worker has, and what was tried, stays with Owed. Without options: the modes, and how many notifications are held for the old sender.",
    changes:
      "the ledger: the mode, who changed it and why, and the merchant's waiting notifications. Nothing is sent by it.",
    examples: [
      "cutover",
      'cutover --merchant shop-7 --to shadow --why "watch it for a week"',
      'cutover --merchant shop-7 --to owed --past send --why "the week was clean"',
      'cutover --new-merchants owed --why "all have moved"',
    ],
  })
    .option("--merchant <id>", "this one", text)
    .addOption(
      new Option(
        "--new-merchants <mode>",
        "instead: the mode of merchants that the ledger first hears of",
      ).choices(modes),
    )
    .addOption(new Option("--to <mode>", "who sends from now on").choices(modes))
    .addOption(
      new Option("--past <what>", "what becomes of what was due by now and not sent").choices([
        "send",
        "cancel",
      ]),
    )
    .option(
      "--unheard-too",
      "although the old sender told of events that the ledger has not heard of: when they come, Owed tells of them as well",
    )
    .option("--why <text>", "why, for the record", text)
    .option("--dry-run", "only say what would move")
    .action((options: Options, command: Command) => {
      const { merchant, newMerchants, to, why, past = null, unheardToo = false } = options;
      if (Object.keys(options).length === 0)
        return run("reads", async ({ ledger }) => list(await readModes(ledger, null, 1000)));
      if (
        (merchant === undefined) === (newMerchants === undefined) ||
        (merchant === undefined) !== (to === undefined)
      )
        throw new Failure("usage", "say --merchant with --to, or --new-merchants");
      if (past !== null && to === undefined)
        throw new Failure("usage", "--past goes with --merchant and --to");
      if (why === undefined) throw new Failure("usage", "say --why, for the record");
      const actor = actorOf(command);
      const dryRun = options.dryRun ?? false;
      if (merchant === undefined || to === undefined)
        return run("writes", ({ ledger }) =>
          newOnes(ledger, newMerchants ?? "owed", { actor, why, unheardToo, dryRun }),
        );
      const asked = { merchant, to, past, unheardToo, why, actor, dryRun };
      return run("writes", async ({ ledger }) => {
        const { at, merchants } = await readModes(ledger, merchant, 1);
        const [now] = merchants;
        if (!now)
          throw new Failure(
            "not_found",
            `the ledger knows no merchant ${merchant}: 'owed cutover' lists them`,
          );
        requirePast(now, asked);
        const set = await setMode(ledger, merchant, to, asked);
        if (!set) throw new Failure("not_found", `the ledger knows no merchant ${merchant}`);
        requireSet(set, merchant);
        return dryRun ? preview(now, asked) : cutOver(ledger, now, set, asked, at);
      });
    });
}

function requirePast({ due, claimed, silent }: MerchantMode, { merchant, to, past }: Cutover): void {
  const unsent = due - claimed;
  if (to !== "owed" || unsent === 0 || past !== null) return;
  const open = silent > 0 ? `; ${silent} of them the old sender claimed, and said nothing of since` : "";
  throw new Failure(
    "not_allowed",
    `${plural(unsent, "notification")} of ${merchant} ${unsent === 1 ? "was" : "were"} due by now, and nobody has sent ${unsent === 1 ? "it" : "them"}${open}: say --past send or --past cancel`,
  );
}

/** Throws `not_allowed` with why the mode was not, or would not be, changed. */
function requireSet({ done, unheard, events, waitsFor }: ModeSet, whose: string): void {
  if (done) return;
  if (waitsFor !== null)
    throw new Failure(
      "not_allowed",
      `an open transaction about ${whose} has to end first, that of ${waitsFor}; nothing was changed: let it end, and run this again`,
    );
  throw new Failure(
    "not_allowed",
    `the old sender has told, or is telling, ${plural(unheard, "recipient")} of events of ${whose}, and the ledger has not heard of ${events.join(", ")}${events.length === 5 ? ", …" : ""}: let ingest catch up, or say --unheard-too`,
  );
}

async function cutOver(
  ledger: Ledger,
  before: MerchantMode,
  set: ModeSet,
  asked: Cutover,
  since: string,
): Promise<Result> {
  const { merchant, to } = asked;
  const fates = await withBar(`${merchant} to ${to}`, before.held, (update) =>
    moveRows(ledger, { ...asked, mode: to, since }, update),
  );
  const left = fates.claimed + fates.past;
  const againFrom = fates.claimed > 0 ? new Date(new Date(since).getTime() + claimStands * 60_000) : null;
  const { claimedIds, ...counts } = fates;
  return {
    json: { merchant, was: set.was, mode: to, rows: counts, claimedIds: claimedIds.slice(0, 100), againFrom },
    lines: [
      set.was === to
        ? `${merchant} was ${to} already.`
        : `${merchant} was ${set.was}, and is ${to} from now on.`,
      ...fateLines(fates, to),
      ...(left > 0 ? [again(againFrom)] : []),
    ],
    exitCode: left > 0 ? exitCodes.not_allowed : 0,
  };
}

const again = (from: Date | null): string =>
  from === null
    ? "Run the same command again, with --past, for those that are left."
    : `Run the same command again for those that are left, from ${time(from)} on: a claim stands for ${claimStands} minutes.`;

function fateLines(fates: Fates, to: Mode): string[] {
  const said: [number, string][] = [
    [fates.moved, to === "owed" ? "now Owed's to send" : "now held for the old sender"],
    [fates.settled, "the old sender had sent already: delivered"],
    [fates.cancelled, "cancelled, since they were due by now"],
    [fates.claimed, "left: the old sender is at work on them"],
    [fates.past, "left: they were due by now, and nobody said --past"],
    [
      fates.kept,
      to === "owed" ? "unchanged" : "unchanged: held in this mode already, or Owed has begun with them",
    ],
  ];
  return said.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
}

function preview(
  { mode, held, due, claimed, silent }: MerchantMode,
  { merchant, to, past }: Cutover,
): Result {
  return {
    json: { merchant, dryRun: true, was: mode, mode: to, past, held, due, claimed, silent },
    lines: [
      `${merchant} is ${mode}, and would be ${to}. Nothing was changed.`,
      `${plural(held, "notification")} held for the old sender, ${due} of them due by now; of those it is at work on ${claimed}, and claimed ${silent} without a word since.`,
    ],
  };
}

async function newOnes(
  ledger: Ledger,
  mode: Mode,
  act: Pick<Cutover, "actor" | "why" | "unheardToo" | "dryRun">,
): Promise<Result> {
  const set = await setNewMerchants(ledger, mode, act);
  requireSet(set, "merchants that are new to it");
  const { was } = set;
  const { dryRun } = act;
  const line = `Merchants that the ledger first hears of were ${was}, and ${dryRun ? "would be" : "are"} ${mode}.`;
  return { json: { newMerchants: mode, was, dryRun }, lines: [line] };
}

function list({ newMerchants, merchants }: Modes): Result {
  const rows = merchants.map(({ merchant, name, mode, held, due, claimed }) => [
    merchant,
    name,
    mode,
    held,
    due,
    claimed,
  ]);
  return {
    json: { newMerchants, merchants },
    lines: [
      `Merchants that the ledger first hears of are ${newMerchants}.`,
      ...(rows.length > 0 ? table(["merchant", "name", "mode", "held", "due by now", "claimed"], rows) : []),
    ],
  };
}
