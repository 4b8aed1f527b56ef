import { CommanderError } from "commander";
import type { Context, Run } from "./command.ts";
import { exitCodes, toFailure } from "./errors.ts";
import { printFailure, printResult, type Result, type Streams } from "./output.ts";
import { createProgram } from "./program.ts";
import { connect, type Kind, type Services } from "./services.ts";

type Task = [() => Promise<Result>] | [Kind, (context: Context) => Promise<Result>];

/** Runs one command line, without the program's name, and returns its exit code. Never throws. */
export async function main(
  argv: readonly string[],
  streams: Streams,
  open: (kind: Kind) => Promise<Services> = connect,
): Promise<number> {
  const json = argv.includes("--json");
  const circumstances = { writes: false, hint: "" };
  let result: Result | undefined;

  const run: Run = async (...task: Task) => {
    if (task.length === 1) {
      result = await task[0]();
      return;
    }
    const [kind, work] = task;
    circumstances.writes = kind === "writes";
    const services = await open(kind);
    circumstances.hint = services.hint;
    try {
      const progress = (line: string) => streams.err(`${line}\n`);
      result = await work({ ...services, progress });
    } finally {
      await services.close();
    }
  };

  try {
    const program = createProgram(streams, run);
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    // Without a command there is nothing to explain but the help, which has been printed.
    if (error instanceof CommanderError && error.code === "commander.help" && !json) return exitCodes.usage;
    const failure = toFailure(error, circumstances);
    printFailure(streams, failure, json);
    return exitCodes[failure.kind];
  }
  if (!result) return 0;
  printResult(streams, result, json);
  return result.exitCode ?? 0;
}
