import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type Worker = {
  /** Hands over the event; resolves when the function has answered, or its process has ended. */
  work(event: object): Promise<void>;
  /** SIGKILL: nothing in it hears of that. Resolves when it is gone. */
  kill(): Promise<void>;
};

const program = fileURLToPath(new URL("worker.ts", import.meta.url));

async function startWorker(environment: Record<string, string>): Promise<Worker> {
  const env = {
    PATH: process.env.PATH,
    // The modules' compiled code is kept: a thousand starts take half the time.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), "owed-bench-compile-cache"),
    POWERTOOLS_LOG_LEVEL: "SILENT",
    ...environment,
  };
  const child = fork(program, { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const exited = once(child, "exit");
  await Promise.race([once(child, "message"), exited.then(() => failed(child))]);
  return {
    async work(event) {
      const answered = once(child, "message");
      child.send(event);
      await Promise.race([answered, exited]);
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function failed(child: ChildProcess): never {
  throw new Error(`a deliver worker did not start (exit code ${child.exitCode}); its error stands above`);
}

/** Keeps so many workers warm, since each is used once. */
export class Workers {
  readonly #environment: Record<string, string>;
  readonly #warm: Promise<Worker>[] = [];

  constructor(environment: Record<string, string>, size: number) {
    this.#environment = environment;
    for (let started = 0; started < size; started += 1) this.#start();
  }

  /** A warm worker; another one is started in its place. */
  async take(): Promise<Worker> {
    const worker = this.#warm.shift();
    if (!worker) throw new Error("the workers have been stopped");
    this.#start();
    return worker;
  }

  async stop(): Promise<void> {
    const settled = await Promise.allSettled(this.#warm.splice(0));
    await Promise.all(settled.map((start) => (start.status === "fulfilled" ? start.value.kill() : null)));
  }

  #start(): void {
    const starting = startWorker(this.#environment);
    // Told to whoever takes it; until then a failure must not count as unhandled.
    starting.catch(() => {});
    this.#warm.push(starting);
  }
}
