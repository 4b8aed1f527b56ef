import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { beginBackfill, finishBackfill, type Ledger, listBackfillRefusals, type Refusal } from "@owed/ledger";
import { type Command, Option } from "commander";
import { actorOf, limit } from "../arguments.ts";
import { type Format, formatOf, formats, readFile, weigh } from "../backfill/read-file.ts";
import { takeIn, tryOut } from "../backfill/take-in.ts";
import { type Run, teach } from "../command.ts";
import { exitCodes, Failure } from "../errors.ts";
import type { Result } from "../output.ts";
import { withBar } from "../text/bar.ts";
import { table } from "../text/table.ts";

type Options = { format?: Format; mode: "old" | "shadow"; dryRun?: true; batch: number };
type File = { path: string; format: Format; size: number; digest: string };

/** Refusals that are shown; the file beside the given one has them all. */
const shown = 20;

export function backfill(program: Command, run: Run): void {
  teach(program, "backfill", {
    summary: "takes today's timers of another sender into the ledger",
    description:
      "Takes the lines of a CSV (with a header) or JSON Lines file into the ledger, each a timer of the old sender: its merchant, shipment, recipient, event and notification with its due_at, held for the old sender until a cutover. Fields: merchant_id, merchant_name, shipment_id, tracking_number, status, occurred_at, recipient_id, role, channel, address, template, due_at; and if there are: timer_id, event_id, name, locale, time_zone, send_by. Lines that can't be taken in are left out, and named with their number, field and reason in <file>.refused.jsonl. The same file again goes on where the last run ended; the same timer again adds nothing.",
    changes:
      "the ledger, a batch at a time: nothing is sent by it. Merchants that the ledger does not know yet get the given mode; what it knows of merchants, shipments and recipients stays as it is.",
    examples: [
      "backfill timers.csv --mode old --dry-run",
      "backfill timers.csv --mode old",
      "backfill timers.jsonl --mode shadow",
    ],
  })
    .argument("<file>", "the timers")
    .addOption(new Option("--format <format>", "what the file is (default: by its name)").choices(formats))
    .addOption(
      new Option("--mode <mode>", "of merchants that are new to the ledger")
        .choices(["old", "shadow"])
        .default("old"),
    )
    .option("--batch <n>", "so many lines in a transaction", limit(10_000), 1000)
    .option("--dry-run", "only say what is wrong with which lines")
    .action((path: string, options: Options, command: Command) => {
      const actor = actorOf(command);
      return run("writes", async ({ ledger, progress }) => {
        const file = { path, format: options.format ?? formatOf(path), ...(await weigh(path)) };
        return options.dryRun
          ? dryRun(ledger, file, options)
          : takeInFile(ledger, file, options, actor, progress);
      });
    });
}

async function dryRun(ledger: Ledger, file: File, { batch }: Options): Promise<Result> {
  const { records, refused, refusals } = await withBar("trying", file.size, (update) =>
    tryOut(ledger, readFile(file.path, file.format, update), batch),
  );
  return {
    json: {
      file: file.path,
      dryRun: true,
      records,
      fit: records - refused,
      refused,
      refusals: refusals.slice(0, shown),
    },
    lines: [
      `${records} timers: ${records - refused} fit, those that the ledger has already among them; ${refused} would be left out. Nothing was changed.`,
      ...refusalLines(refusals, refused),
    ],
    exitCode: refused > 0 ? exitCodes.refused : 0,
  };
}

async function takeInFile(
  ledger: Ledger,
  file: File,
  { mode, batch }: Options,
  actor: string,
  progress: (line: string) => void,
): Promise<Result> {
  const { path, format, size, digest } = file;
  const begun = await beginBackfill(ledger, { digest, name: basename(path), mode, actor });
  if (begun.mode !== mode)
    throw new Failure("not_allowed", `this file was begun with --mode ${begun.mode}: go on with the same`);
  if (!begun.finished && begun.records > 0) progress(`going on after ${begun.records} timers`);
  const done = begun.finished
    ? begun
    : await withBar("taking in", size, (update) =>
        takeIn(ledger, digest, begun, readFile(path, format, update), batch),
      );
  await finishBackfill(ledger, digest);
  const { records, added, repeated, refused } = done;
  const refusals = refused > 0 ? await listBackfillRefusals(ledger, digest) : [];
  const refusedFile = refusals.length > 0 ? await keep(refusals, `${path}.refused.jsonl`) : null;
  const sums = `${added} added, ${repeated} known already, ${refused} left out`;
  return {
    json: {
      file: path,
      digest,
      mode,
      before: begun.records,
      records,
      added,
      repeated,
      refused,
      refusals: refusals.slice(0, shown),
      refusedFile,
    },
    lines: [
      begun.finished
        ? `This file was taken in before: ${records} timers, ${sums}. Nothing was changed.`
        : `${records} timers: ${sums}.`,
      ...refusalLines(refusals, refused),
      ...(refusedFile ? [`All that are kept: ${refusedFile}`] : []),
    ],
    exitCode: refused > 0 ? exitCodes.refused : 0,
  };
}

async function keep(refusals: readonly Refusal[], path: string): Promise<string> {
  await writeFile(path, refusals.map((refusal) => `${JSON.stringify(refusal)}\n`).join(""));
  return path;
}

function refusalLines(refusals: readonly Refusal[], refused: number): string[] {
  if (refusals.length === 0) return [];
  const rows = refusals
    .slice(0, shown)
    .map(({ line, timer_id, field, reason }) => [line, timer_id, field, reason]);
  const more = refused - rows.length;
  return [...table(["line", "timer", "field", "reason"], rows), ...(more > 0 ? [`… and ${more} more`] : [])];
}
