import type { Failure } from "./errors.ts";
import { printable, toJson } from "./text/printable.ts";

/** What a command found or did: the same for people and for programs. */
export type Result = {
  /** One object; times are Dates, durations seconds. */
  json: Record<string, unknown>;
  /** For people, a line each. Whatever the ledger holds may stand in them: they are escaped when printed. */
  lines: readonly string[];
  /** Not 0 when a part of what was asked could not be done. */
  exitCode?: number;
};

/** Where a command writes. */
export type Streams = { out: (text: string) => void; err: (text: string) => void };

/** Prints the result: with `json` exactly one object on standard output. */
export function printResult({ out }: Streams, result: Result, json: boolean): void {
  out(json ? `${toJson(result.json)}\n` : `${result.lines.map(printable).join("\n")}\n`);
}

/** Prints why nothing was done: with `json` the one object on standard output, else a line on standard error. */
export function printFailure({ out, err }: Streams, { kind, message, cause }: Failure, json: boolean): void {
  if (json) {
    out(`${toJson({ error: { kind, message } })}\n`);
    return;
  }
  err(`owed: ${printableLines(message)}\n`);
  // An error that nobody foresaw: where it comes from helps to mend it.
  if (kind === "failed" && cause instanceof Error && cause.stack) err(`${printableLines(cause.stack)}\n`);
}

const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");
