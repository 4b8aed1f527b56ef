import { messageOf } from "@owed/cli/errors";
import type { Act } from "@owed/ledger";

/** How far it is; `total` null: nobody knows yet of how many. */
export type Progress = { doing: string; done: number; total: number | null };

/** What became of it, in sentences, and what was left as it is, with the reason. */
export type Outcome = { sentences: readonly string[]; left: readonly Left[]; failed: boolean };
export type Left = { id: string; why: string };

/** Long work that a person began. */
export type Run = {
  readonly id: string;
  readonly title: string;
  /** Who began it, and why. */
  readonly by: Act;
  readonly began: Date;
  /** The page that it was begun on. */
  readonly from: string;
  progress: Progress;
  outcome: Outcome | null;
  /** Counts the changes. */
  version: number;
};

export type Work = (report: (progress: Progress) => void) => Promise<Outcome>;
export type Begin = Pick<Run, "title" | "by" | "from">;

/** Runs that are remembered. */
const kept = 50;

/** Milliseconds that a look waits for a change. */
const patience = 10_000;

/** What goes on in the background of this console. It ends with the console: what is done stays done. */
export class Runs {
  readonly #runs = new Map<string, Run>();
  readonly #waiting = new Map<Run, Set<() => void>>();
  #last = 0;

  /** Begins the work, and does not wait for it. An error is its outcome. */
  begin(about: Begin, work: Work): Run {
    this.#last += 1;
    const run: Run = {
      ...about,
      id: String(this.#last),
      began: new Date(),
      progress: { doing: "begins", done: 0, total: null },
      outcome: null,
      version: 0,
    };
    this.#runs.set(run.id, run);
    this.#forget();
    const report = (progress: Progress) => this.#change(run, () => Object.assign(run, { progress }));
    const end = (outcome: Outcome) => this.#change(run, () => Object.assign(run, { outcome }));
    work(report).then(end, (error: unknown) => end(stopped(error, run.progress)));
    return run;
  }

  find(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  /** The newest first. */
  list(): Run[] {
    return [...this.#runs.values()].reverse();
  }

  /** Waits until it has changed since that version, has ended, or ten seconds have passed. */
  async changed(run: Run, since: number): Promise<void> {
    if (run.version > since || run.outcome) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(run) ?? new Set();
    this.#waiting.set(run, waiting.add(resolve));
    const timer = setTimeout(resolve, patience);
    await promise;
    clearTimeout(timer);
    waiting.delete(resolve);
  }

  #change(run: Run, change: () => void): void {
    change();
    run.version += 1;
    for (const wake of this.#waiting.get(run) ?? []) wake();
    if (run.outcome) this.#waiting.delete(run);
  }

  #forget(): void {
    const ended = [...this.#runs.values()].filter(({ outcome }) => outcome);
    for (const { id } of ended.slice(0, Math.max(0, this.#runs.size - kept))) this.#runs.delete(id);
  }
}

const stopped = (error: unknown, { doing, done, total }: Progress): Outcome => ({
  sentences: [
    `It stopped: ${messageOf(error)}.`,
    `It had come so far: ${doing}, ${done}${total === null ? "" : ` of ${total}`}. What was done until then stays done; the rest is as it was.`,
  ],
  left: [],
  failed: true,
});
