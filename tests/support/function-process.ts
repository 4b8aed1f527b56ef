import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Stage } from "@owed/functions/step";
import type { Invocation, Said } from "./function-host.ts";

const program = fileURLToPath(new URL("function-host.ts", import.meta.url));

/** Its process has ended, or its function has failed: Lambda would give the event back. Its message is the function's own. */
export class InvocationFailed extends Error {
  override readonly name = "InvocationFailed";
}

export type FunctionName = Stage | "migrate";

export type InvocationOptions = Partial<
  Pick<Invocation, "stop" | "timeoutSeconds" | "context" | "frozenFor">
>;

export type FunctionProcess = {
  readonly alive: boolean;
  /** One invocation at a time. @throws InvocationFailed */
  invoke(event: unknown, options?: InvocationOptions): Promise<unknown>;
  /** SIGSTOP: between two invocations it stands still, as a container that Lambda has frozen. */
  freeze(): void;
  /** Resolves when an invocation stands still at its step. */
  frozen(): Promise<void>;
  /** SIGCONT: it goes on where it stood. */
  thaw(): void;
  /** SIGKILL: nothing in it hears of that. Resolves when it is gone. */
  kill(): Promise<void>;
};

export type FunctionProcessOptions = {
  environment: Record<string, string>;
  /** Seconds that its wall clock is ahead of the machine's; negative: behind. */
  wallAhead?: number;
  /** Gets what it writes to standard output and standard error. */
  log?: (text: string) => void;
};

const timeouts: Record<FunctionName, number> = {
  ingest: 30,
  sweep: 60,
  deliver: 30,
  feedback: 30,
  migrate: 300,
};

/**
 * Starts a function in a process of its own, and resolves when it can be invoked.
 *
 * @throws InvocationFailed when it can't be loaded
 */
export async function startFunction(
  stage: FunctionName,
  { environment, wallAhead = 0, log }: FunctionProcessOptions,
): Promise<FunctionProcess> {
  const env = {
    PATH: process.env.PATH,
    // Many are started and killed: their modules' compiled code is kept.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), "owed-compile-cache"),
    POWERTOOLS_LOG_LEVEL: "SILENT",
    ...environment,
  };
  const child = fork(program, [stage, String(wallAhead)], {
    env,
    stdio: ["ignore", log ? "pipe" : "ignore", log ? "pipe" : "inherit", "ipc"],
  });
  if (log) for (const output of [child.stdout, child.stderr]) output?.setEncoding("utf8").on("data", log);
  // Whoever waits for a step that is not reached listens on.
  child.setMaxListeners(0);
  const exited = once(child, "exit");
  const gone = exited.then(([code, signal]) => {
    throw new InvocationFailed(`the process of ${stage} ended (${signal ?? `exit code ${code}`})`);
  });
  gone.catch(() => {});
  const loaded = await Promise.race([heard(child, (said) => "ready" in said || "unusable" in said), gone]);
  if ("unusable" in loaded) throw new InvocationFailed(`${stage} can't be loaded: ${loaded.unusable}`);
  return {
    get alive() {
      return child.exitCode === null && child.signalCode === null;
    },
    async invoke(event, options = {}) {
      const said = heard(child, (said) => "answer" in said || "error" in said);
      const usual = { stop: null, timeoutSeconds: timeouts[stage], context: {}, frozenFor: 0 };
      child.send({ event, ...usual, ...options } satisfies Invocation, () => {});
      const told = await Promise.race([said, gone]);
      if ("error" in told) throw new InvocationFailed(`${stage}: ${told.error}`);
      return "answer" in told ? told.answer : null;
    },
    async frozen() {
      await Promise.race([heard(child, (said) => "frozen" in said), gone]);
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** The next thing of that kind which the process says. */
function heard(child: ChildProcess, isIt: (said: Said) => boolean): Promise<Said> {
  const { promise, resolve } = Promise.withResolvers<Said>();
  const listen = (said: Said) => {
    if (!isIt(said)) return;
    child.off("message", listen);
    resolve(said);
  };
  child.on("message", listen);
  return promise;
}
