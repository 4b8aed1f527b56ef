/** What befalls an invocation at its `at`th port call, which took effect or did not. */
export type Disturbance = {
  at: number;
  happens: boolean;
  /**
   * `fails`: the call throws, and the invocation goes on. `overlaps`: all that stands still goes on first, to its end.
   */
  effect: "dies" | "freezes" | "fails" | "overlaps";
  /** How long it stands still at least: the time that passes before anybody else does something. */
  seconds: number;
};

/** What stands still goes on in the midst of another batch: before or after its claim, its call or its record. */
export const anyOverlap = ({ random }: { random: () => number }): Disturbance => ({
  at: Math.floor(random() * 3),
  happens: random() < 0.5,
  effect: "overlaps",
  seconds: 0,
});

/** What a port throws when its call fails; `happened`: it took effect, and its answer was lost. */
export type Failing<T> = (call: () => Promise<T>, happened: boolean) => Promise<T>;

/** One port call at a time: what is concurrent in the product has one order here, the same in each run. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn, with what ends it. */
  async take(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}

const never = <T>() => new Promise<T>(() => {});

/**
 * One run of a function, as the platform sees it: all that it does to the world goes through here, and stops for good
 * when it dies, and until it thaws when it freezes. So each port call is a crash point, before and after it.
 */
export class Invocation {
  readonly what: string;
  /** When it began, in the history's seconds. */
  readonly since: number;
  /** Something befell it: what it did not do is not its fault. */
  disturbed = false;
  state: "runs" | "frozen" | "dead" = "runs";
  /** Resolves when it froze or died. */
  readonly stopped: Promise<void>;
  readonly #turns: Turns;
  readonly #disturbance: Disturbance | null;
  readonly #overlap: () => Promise<void>;
  readonly #stop: () => void;
  #thawing = Promise.withResolvers<void>();
  #calls = 0;

  /** `overlap`: lets the others that stand still go on. */
  constructor(
    what: string,
    { turns, since, overlap }: { turns: Turns; since: number; overlap: () => Promise<void> },
    disturbance: Disturbance | null,
  ) {
    this.#overlap = overlap;
    this.since = since;
    this.what = what;
    this.#turns = turns;
    this.#disturbance = disturbance;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.#stop = resolve;
  }

  /** A port call: happens in its turn, or never, or when the invocation has thawed. */
  async through<T>(call: () => Promise<T>, failing: Failing<T>): Promise<T> {
    for (;;) {
      if (this.state === "dead") return never();
      if (this.state === "frozen") await this.#thawing.promise;
      const end = await this.#turns.take();
      try {
        if (this.state === "runs") return await this.#undertake(call, failing, end);
      } finally {
        end();
      }
    }
  }

  async #undertake<T>(call: () => Promise<T>, failing: Failing<T>, end: () => void): Promise<T> {
    const befalls = this.#calls++ === this.#disturbance?.at ? this.#disturbance : null;
    if (!befalls) return call();
    if (befalls.effect === "overlaps") {
      const answer = befalls.happens ? { value: await call() } : null;
      end();
      await this.#overlap();
      return answer ? answer.value : this.through(call, failing);
    }
    this.disturbed = true;
    if (befalls.effect === "fails") return failing(call, befalls.happens);
    const answer = befalls.happens ? { value: await call() } : null;
    this.state = befalls.effect === "dies" ? "dead" : "frozen";
    end();
    this.#stop();
    if (this.state === "dead") return never();
    await this.#thawing.promise;
    return answer ? answer.value : this.through(call, failing);
  }

  /** Who is known by name: ingest, whose leases are told apart from the sweeps'; of the others only who is disturbed. */
  get name(): string {
    return this.what.startsWith("ingest") || this.#disturbance?.effect === "freezes" ? this.what : "";
  }

  /** Goes on where it froze. */
  thaw(): void {
    if (this.state !== "frozen") return;
    this.state = "runs";
    this.#thawing.resolve();
  }

  die(): void {
    this.disturbed = true;
    this.state = "dead";
    this.#stop();
  }
}
