import { actorOf } from "@owed/cli/arguments";
import { exitCodes, Failure, toFailure } from "@owed/cli/errors";
import { connect, type Services } from "@owed/cli/services";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { type Console, startConsole } from "./start.ts";

export type Surroundings = {
  out: (text: string) => void;
  err: (text: string) => void;
  /** Resolves when the console shall end. */
  stopped: Promise<void>;
};

type Options = { stage?: string; port: number; write: boolean; actor?: string };

const closing = `
Without SST's links it shows the local stack that runs ('npm start').
The page is for this machine alone: it answers on loopback, under no other name.

Examples:
  $ npx sst shell --stage production -- npm run console -- --stage production
  $ npx sst shell --stage production -- npm run console -- --stage production --write --actor ada`;

function port(given: string): number {
  const number = Number(given);
  if (!/^\d+$/.test(given) || number > 65_535)
    throw new InvalidArgumentError("It must be a port from 0 to 65535; 0 takes any free one.");
  return number;
}

/** Serves the operator's page until it is stopped, and returns the exit code. Never throws. */
export async function run(argv: readonly string[], { out, err, stopped }: Surroundings): Promise<number> {
  const command = new Command("console")
    .description("The operator's page on this machine, for a deployed stage or the local stack.")
    .option("--stage <name>", "the stage that must be meant; it is compared with SST's links")
    .option("--port <number>", "where it listens on 127.0.0.1", port, 54_320)
    .option("--write", "redrive, resolve, pause and the like; without it the page only looks", false)
    .option("--actor <name>", "who acts, for the record (default: OWED_ACTOR, else your user name)")
    .addHelpText("after", closing)
    .configureOutput({ writeOut: out, writeErr: err, outputError: () => {} })
    .exitOverride();
  let hint = "";
  try {
    command.parse([...argv], { from: "user" });
    const options = command.opts<Options>();
    const actor = actorOf(command);
    const reader = await connect("reads");
    hint = reader.hint;
    const writer = options.write ? await connect("writes") : null;
    try {
      const stage = await stageOf(options.stage);
      const page = await open({ ...options, actor, stage }, reader, writer);
      out(
        `The console of ${stage}, ${writer ? `where ${actor} may write` : "read-only"}: ${page.url}\nCtrl-C ends it.\n`,
      );
      await stopped;
      await page.stop();
    } finally {
      await reader.close();
      await writer?.close();
    }
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const failure = toFailure(error, { writes: false, hint });
    err(`console: ${failure.message}\n`);
    return exitCodes[failure.kind];
  }
}

/** The stage of SST's links. Throws `usage` when another one was asked for. */
async function stageOf(asked: string | undefined): Promise<string> {
  const { resource } = await import("@owed/functions/resources");
  const { stage } = resource("App");
  if (asked !== undefined && asked !== stage)
    throw new Failure(
      "usage",
      `--stage ${asked} was asked for, but what is linked here is ${stage}: run 'npx sst shell --stage ${asked} -- npm run console -- --stage ${asked}'`,
    );
  return stage;
}

async function open(
  { port, actor, stage }: { port: number; actor: string; stage: string },
  reader: Services,
  writer: Services | null,
): Promise<Console> {
  try {
    return await startConsole({
      ...{ port, actor, stage, sandbox: null },
      ledger: reader.ledger,
      writer: writer?.ledger ?? null,
      services: reader,
    });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
      throw new Failure(
        "failed",
        `port ${port} is taken by another program, perhaps by 'npm start', which has the page already: choose another with --port (0 takes any)`,
        { cause: error },
      );
    throw error;
  }
}
