import { setTimeout as sleep } from "node:timers/promises";
import { type Durations, type Ledger, type Result, record, recordEvidence } from "@owed/ledger";

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

/**
 * Records a batch's outcomes together: the first one waits a moment for the others, and a slow provider call
 * holds back no neighbour's record. An outcome is held and its record retried until the deadline. An acceptance
 * whose token is no longer ours is brought as evidence.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  #waiting: { result: Result; settle: (entry: Entry) => void }[] = [];
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
    const fenced = await this.#write(batch.map(({ result }) => result));
    for (const { result, settle } of batch)
      settle(fenced === null ? "unrecorded" : fenced.has(result.id) ? "fenced" : "recorded");
  }

  /** The ids that are fenced; null when the ledger could not be reached in time. */
  async #write(results: readonly Result[]): Promise<Set<string> | null> {
    const { ledger, durations, remaining, onError } = this.#options;
    for (let pause = 100; ; pause = Math.min(2 * pause, 2000)) {
      try {
        const fenced = await record(ledger, durations, results);
        await recordEvidence(
          ledger,
          results.flatMap((result) => (fenced.has(result.id) ? proofOf(result) : [])),
        );
        return fenced;
      } catch (error) {
        onError(error);
        if (remaining() * 1000 < pause + 1000) return null;
        await sleep(pause);
      }
    }
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
          evidence: "reply" as const,
        },
      ]
    : [];
