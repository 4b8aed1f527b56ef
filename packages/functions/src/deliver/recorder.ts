import { setTimeout as sleep } from "node:timers/promises";
import {
  type Durations,
  type Ledger,
  LedgerUnavailable,
  type Result,
  record,
  recordEvidence,
} from "@owed/ledger";
import { reached } from "../step.ts";

export type RecorderOptions = {
  ledger: Ledger;
  durations: Durations;
  /** Milliseconds an outcome waits for its neighbours, so that a batch is recorded in one statement. */
  gather: number;
  /** Seconds that recording may still take. */
  remaining: () => number;
  onError: (error: unknown) => void;
};

/**
 * `recorded`: the ledger has it. `fenced`: the row is no longer this worker's, who is told; the ledger decides.
 * `unrecorded`: the ledger could not be reached until the deadline.
 */
export type Entry = "recorded" | "fenced" | "unrecorded";

type Waiting = { result: Result; settle: (entry: Entry) => void };

/**
 * Records a batch's outcomes together: the first one waits a moment for the others, and a slow provider call
 * holds back no neighbour's record. An outcome is held and its record retried until the deadline. An acceptance
 * whose token is no longer ours is brought as evidence.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  #waiting: Waiting[] = [];
  #expected: number;
  #timer: NodeJS.Timeout | null = null;

  /** `expected`: how many outcomes will come in all; the last one is not waited for any longer. */
  constructor(options: RecorderOptions, expected: number) {
    this.#options = options;
    this.#expected = expected;
  }

  add(result: Result): Promise<Entry> {
    return new Promise((settle) => {
      this.#waiting.push({ result, settle });
      this.#expected -= 1;
      if (this.#expected <= 0) void this.#flush();
      else this.#timer ??= setTimeout(() => void this.#flush(), this.#options.gather);
    });
  }

  async #flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const batch = this.#waiting;
    this.#waiting = [];
    await this.#write(batch);
  }

  /** Settles each: tries until the ledger has them, or until the deadline. */
  async #write(batch: readonly Waiting[]): Promise<void> {
    const { remaining, onError } = this.#options;
    for (let pause = 100; ; pause = Math.min(2 * pause, 2000)) {
      try {
        const fenced = await inTime(this.#record(batch.map(({ result }) => result)), remaining() - 1);
        reached("deliver:recorded");
        for (const { result, settle } of batch) settle(fenced.has(result.id) ? "fenced" : "recorded");
        return;
      } catch (error) {
        onError(error);
        // Something is wrong with one of them, not with the database: it must not hold back the others.
        if (!(error instanceof LedgerUnavailable) && batch.length > 1) {
          await Promise.all(batch.map((one) => this.#write([one])));
          return;
        }
        if (remaining() * 1000 < pause + 1500) {
          for (const { settle } of batch) settle("unrecorded");
          return;
        }
        await sleep(pause);
      }
    }
  }

  async #record(results: readonly Result[]): Promise<Set<string>> {
    const { ledger, durations } = this.#options;
    const fenced = await record(ledger, durations, results);
    await recordEvidence(
      ledger,
      results.flatMap((result) => (fenced.has(result.id) ? proofOf(result) : [])),
    );
    return fenced;
  }
}

/** Rejects as an unavailable ledger when there is no answer within so many seconds. */
export async function inTime<T>(work: Promise<T>, seconds: number): Promise<T> {
  const over = new AbortController();
  const late = async (): Promise<never> => {
    await sleep(Math.max(0, seconds) * 1000, undefined, { signal: over.signal });
    throw new LedgerUnavailable(new Error("no answer before the function's deadline"), false);
  };
  try {
    return await Promise.race([work, late()]);
  } finally {
    over.abort();
  }
}

const proofOf = ({ id, outcome }: Result) =>
  outcome.kind === "accepted"
    ? [
        {
          id,
          at: null,
          provider: outcome.provider,
          providerMessageId: outcome.providerMessageId,
          outcome: "accepted" as const,
          detail: null,
          suppress: false,
          queuedAt: null,
          evidence: "reply" as const,
        },
      ]
    : [];
