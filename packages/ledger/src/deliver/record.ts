import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";
import { recordAccepted } from "./record-accepted.ts";
import { recordOthers } from "./record-others.ts";

/** What became of a claimed row. Reasons are short, start with a code word, and hold no personal data. */
export type Outcome =
  | { kind: "accepted"; provider: string; providerMessageId: string }
  | { kind: "refused"; reason: string }
  | { kind: "exhausted"; reason: string }
  | { kind: "transient"; reason: string }
  /** Owed again after `wait` seconds; costs no attempt. */
  | { kind: "throttled"; reason: string; wait: number }
  | { kind: "unknown"; reason: string }
  /** Claimed, but the provider was not called: owed again after `wait` seconds; without, at once and in its old place. */
  | { kind: "not_called"; wait?: number };

export type Result = { id: string; token: number; outcome: Outcome };

export type Accepted = Result & { outcome: Extract<Outcome, { kind: "accepted" }> };

/**
 * Records the outcomes of a batch (transitions 5, 7, 8, 10, 11, 12 and 22), each fenced by its token. Most are
 * acceptances, which one statement writes; a second one writes what else came, and looks at what the first one left.
 * Returns the ids that were not recorded, because the row is no longer this worker's: a failure then changes nothing; an
 * acceptance is evidence, see `recordEvidence`. Run again after a lost answer it says the same.
 */
export async function record(
  ledger: Ledger,
  durations: Durations,
  results: readonly Result[],
): Promise<Set<string>> {
  const accepted = results.filter((result): result is Accepted => result.outcome.kind === "accepted");
  const recorded = await recordAccepted(ledger, accepted);
  return recordOthers(
    ledger,
    durations,
    results.filter(({ id }) => !recorded.has(id)),
  );
}
