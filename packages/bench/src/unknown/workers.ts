import { type FunctionProcess, startFunction } from "../../../../tests/support/function-process.ts";

/** Keeps so many deliver workers warm, each in a process of its own, since each is used once. */
export class Workers {
  readonly #environment: Record<string, string>;
  readonly #warm: Promise<FunctionProcess>[] = [];

  constructor(environment: Record<string, string>, size: number) {
    this.#environment = environment;
    for (let started = 0; started < size; started += 1) this.#start();
  }

  /** A warm worker; another one is started in its place. */
  async take(): Promise<FunctionProcess> {
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
    const starting = startFunction("deliver", { environment: this.#environment });
    // Told to whoever takes it; until then a failure must not count as unhandled.
    starting.catch(() => {});
    this.#warm.push(starting);
  }
}
