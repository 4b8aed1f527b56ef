/** What a call told of an endpoint: it answered, it failed or did not answer, it asks for time, or nothing at all. */
export type Met = "answered" | "failed" | "nothing" | { restSeconds: number };

/** A call that may be made now, or one that has to wait for so many whole seconds. */
export type Admission = { waitSeconds: number } | { waitSeconds: 0; met(what: Met): void };

type Trouble = {
  /** In a row. */
  failures: number;
  /** Seconds that it was left alone the last time; 0 where it never was. */
  pause: number;
  /** Milliseconds of the clock; null while it is called as any other. */
  restsUntil: number | null;
  probing: boolean;
};

const failuresToRest = 3;
const firstPause = 30;
const longestPause = 600;

/**
 * Leaves endpoints alone that fail, so that they take no worker's time from others: after three failures in a row for
 * 30 s, then for twice as long each time, at most 10 min. One call at a time probes whether it is back; an answer ends
 * it. It is each process's own knowledge, of the `most` endpoints that were in trouble last.
 */
export class Endpoints {
  readonly #now: () => number;
  readonly #most: number;
  /** The one that was touched last stands last. */
  readonly #troubled = new Map<string, Trouble>();

  constructor(now: () => number = Date.now, most = 1_000) {
    this.#now = now;
    this.#most = most;
  }

  /** How many endpoints are in trouble. */
  get size(): number {
    return this.#troubled.size;
  }

  /** Whether the endpoint may be called. If so, the call must say what it met, whatever becomes of it. */
  admit(endpoint: string): Admission {
    const trouble = this.#troubled.get(endpoint);
    if (!trouble || trouble.restsUntil === null) {
      return { waitSeconds: 0, met: (what) => this.#note(endpoint, what, null) };
    }
    const left = Math.ceil((trouble.restsUntil - this.#now()) / 1_000);
    if (left > 0) return { waitSeconds: left };
    if (trouble.probing) return { waitSeconds: firstPause };
    trouble.probing = true;
    return { waitSeconds: 0, met: (what) => this.#note(endpoint, what, trouble) };
  }

  #note(endpoint: string, what: Met, probed: Trouble | null): void {
    if (probed) probed.probing = false;
    if (what === "nothing") return;
    const known = this.#troubled.get(endpoint);
    this.#troubled.delete(endpoint);
    if (what === "answered") return;
    const trouble = known ?? { failures: 0, pause: 0, restsUntil: null, probing: false };
    if (what !== "failed") this.#rest(trouble, Math.min(what.restSeconds, longestPause));
    // A call that began before the rest says nothing that is not known.
    else if (trouble.restsUntil === null || probed === trouble) this.#fail(trouble);
    this.#troubled.set(endpoint, trouble);
    for (const oldest of this.#troubled.keys()) {
      if (this.#troubled.size <= this.#most) break;
      this.#troubled.delete(oldest);
    }
  }

  #fail(trouble: Trouble): void {
    trouble.failures += 1;
    if (trouble.failures < failuresToRest && trouble.restsUntil === null) return;
    trouble.pause = trouble.pause === 0 ? firstPause : Math.min(trouble.pause * 2, longestPause);
    this.#rest(trouble, trouble.pause);
  }

  #rest(trouble: Trouble, seconds: number): void {
    trouble.restsUntil = Math.max(trouble.restsUntil ?? 0, this.#now() + seconds * 1_000);
  }
}
