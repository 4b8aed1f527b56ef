import type { Stage } from "@owed/functions/step";
import type { Stop } from "../../support/function-host.ts";
import {
  type FunctionProcess,
  type FunctionProcessOptions,
  InvocationFailed,
  startFunction,
} from "../../support/function-process.ts";
import type { SkippedTime } from "./time.ts";

type Frozen = { process: FunctionProcess; until: number; answered: Promise<unknown> };

/**
 * The functions, each invocation in a process of its own, as Lambda runs them: one that is idle takes the next event,
 * one that has died is replaced, and nobody waits for one that stands still.
 */
export class Functions {
  readonly #options: FunctionProcessOptions;
  readonly #time: SkippedTime;
  /** By stage and by the clock they were started with. */
  readonly #idle = new Map<string, FunctionProcess[]>();
  readonly #busy = new Set<FunctionProcess>();
  readonly #stops = new Map<Stage, Stop[]>();
  #frozen: Frozen[] = [];
  /** Invocations whose process ended before they did. */
  ended = 0;
  /** Seconds that the wall clocks of the processes are ahead that are invoked from now on. */
  wallAhead = 0;

  constructor(options: FunctionProcessOptions, time: SkippedTime) {
    this.#options = options;
    this.#time = time;
  }

  get frozen(): number {
    return this.#frozen.length;
  }

  /** Lets the stage's next invocation that reaches a step end there, or stand still. */
  stopNext(stop: Stop): void {
    const stage = stop.step.split(":")[0] as Stage;
    this.#stops.set(stage, [...(this.#stops.get(stage) ?? []), stop]);
  }

  /** Stops that no invocation has met are forgotten. */
  stopNoMore(): void {
    this.#stops.clear();
  }

  /** @throws InvocationFailed when the process died or stands still, or the function failed. */
  async invoke(stage: Stage, event: unknown): Promise<unknown> {
    const kind = `${stage} ${this.wallAhead}`;
    const idle = this.#idle.get(kind)?.pop();
    const process = idle ?? (await startFunction(stage, { ...this.#options, wallAhead: this.wallAhead }));
    this.#busy.add(process);
    const stop = this.#stops.get(stage)?.[0] ?? null;
    const answered = process.invoke(event, { stop });
    answered.catch(() => {});
    const standsStill = stop?.how === "freeze" ? process.frozen() : new Promise<never>(() => {});
    standsStill.catch(() => {});
    try {
      const first = await Promise.race([
        answered.then((answer) => ({ answer })),
        standsStill.then(
          () => null,
          () => new Promise<never>(() => {}),
        ),
      ]);
      if (first !== null) {
        this.#rest(kind, process);
        return first.answer;
      }
    } catch (error) {
      if (process.alive) this.#rest(kind, process);
      else {
        this.#busy.delete(process);
        this.ended += 1;
        this.#met(stage, stop);
      }
      throw error;
    }
    this.#met(stage, stop);
    const seconds = stop?.how === "freeze" ? stop.seconds : 0;
    this.#frozen.push({ process, until: this.#time.now() + seconds, answered });
    throw new InvocationFailed(`the process of ${stage} stands still`);
  }

  /** A stop is for one invocation. */
  #met(stage: Stage, stop: Stop | null): void {
    this.#stops.set(
      stage,
      (this.#stops.get(stage) ?? []).filter((one) => one !== stop),
    );
  }

  #rest(kind: string, process: FunctionProcess): void {
    this.#busy.delete(process);
    this.#idle.set(kind, [...(this.#idle.get(kind) ?? []), process]);
  }

  /** Those whose time has come go on where they stood, to their end; nobody hears their answer. */
  async thaw({ all = false } = {}): Promise<void> {
    const now = this.#time.now();
    const due = this.#frozen.filter(({ until }) => all || until <= now);
    this.#frozen = this.#frozen.filter((one) => !due.includes(one));
    for (const { process, answered } of due) {
      process.thaw();
      await answered.catch(() => {});
      await this.#end(process);
    }
  }

  /** SIGKILL to a process that is at work, if there is one. Returns whether there was. */
  async killOne(): Promise<boolean> {
    for (const process of this.#busy) {
      if (this.#frozen.some((one) => one.process === process)) continue;
      await this.#end(process);
      return true;
    }
    return false;
  }

  /** Those that are idle end: the next invocations start anew, with what is set by then. */
  async renew(): Promise<void> {
    const idle = [...this.#idle.values()].flat();
    this.#idle.clear();
    await Promise.all(idle.map((process) => process.kill()));
  }

  async stop(): Promise<void> {
    await this.renew();
    await Promise.all([...this.#busy].map((process) => this.#end(process)));
    this.#frozen = [];
  }

  async #end(process: FunctionProcess): Promise<void> {
    this.#busy.delete(process);
    await process.kill();
  }
}
