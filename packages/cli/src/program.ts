import { Command } from "commander";
import { text } from "./arguments.ts";
import type { Run } from "./command.ts";
import { audit } from "./commands/audit.ts";
import { backfill } from "./commands/backfill.ts";
import { cancel } from "./commands/cancel.ts";
import { close } from "./commands/close.ts";
import { compare } from "./commands/compare.ts";
import { cutover } from "./commands/cutover.ts";
import { dead } from "./commands/dead.ts";
import { erase } from "./commands/erase.ts";
import { event } from "./commands/event.ts";
import { lift } from "./commands/lift.ts";
import { open } from "./commands/open.ts";
import { pause } from "./commands/pause.ts";
import { preview } from "./commands/preview.ts";
import { redrive } from "./commands/redrive.ts";
import { refused } from "./commands/refused.ts";
import { replay } from "./commands/replay.ts";
import { report } from "./commands/report.ts";
import { resolve } from "./commands/resolve.ts";
import { restored } from "./commands/restored.ts";
import { resume } from "./commands/resume.ts";
import { rules } from "./commands/rules.ts";
import { show } from "./commands/show.ts";
import { status } from "./commands/status.ts";
import { suppressed } from "./commands/suppressed.ts";
import { sweep } from "./commands/sweep.ts";
import { webhookSecret } from "./commands/webhook-secret.ts";
import type { Streams } from "./output.ts";

const closing = `
Output: with --json exactly one JSON object on standard output, the error of a failed command included:
  {"error": {"kind": "usage | not_found | not_allowed | refused | unavailable | not_configured | failed", "message": "…"}}
  Times are RFC 3339 in UTC, ages and durations are seconds. Without --json errors go to standard error.

Exit codes: 0 done; 1 failed, unavailable or not configured; 2 wrong usage; 3 not found, not allowed or refused.

Configuration: SST's links under 'sst shell'; else what the local stack ('npm start') left in .owed/env.json.
  OWED_ACTOR names who acts, where --actor does not.

Start with:
  $ npm run owed -- status
  $ npm run owed -- audit --shipment S-1001
  $ npm run owed -- help redrive`;

/** The whole command line. Nothing exits the process; errors and asked-for help are thrown as CommanderError. */
export function createProgram({ out, err }: Streams, run: Run): Command {
  const program = new Command("owed")
    .description("What is owed to whom, what was sent, and what an operator can do about it.")
    .option("--json", "print one JSON object")
    .option(
      "--actor <name>",
      "who does this, for the record (default: OWED_ACTOR, else your user name)",
      text,
    )
    .configureHelp({ showGlobalOptions: true, helpWidth: 110 })
    // Errors are printed in one place, for people or as JSON.
    .configureOutput({ writeOut: out, writeErr: err, outputError: () => {} })
    .exitOverride()
    .addHelpText("after", closing);
  program.commandsGroup("Ask:");
  for (const add of [status, show, audit, dead, refused, suppressed, report]) add(program, run);
  program.commandsGroup("Run:");
  for (const add of [event, sweep, pause, resume, close, open]) add(program, run);
  program.commandsGroup("Tell:");
  for (const add of [rules, preview, webhookSecret]) add(program, run);
  program.commandsGroup("Mend:");
  for (const add of [redrive, replay, resolve, cancel, lift, restored, erase]) add(program, run);
  program.commandsGroup("Move over from another sender:");
  for (const add of [backfill, compare, cutover]) add(program, run);
  return program;
}
