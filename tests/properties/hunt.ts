import fc from "fast-check";
import { expect } from "vitest";
import type { TestDatabase } from "../support/database.ts";
import { describe, type History } from "./commands.ts";
import { examples } from "./examples.ts";
import { play } from "./play.ts";
import { transitionOf, transitions } from "./transitions.ts";

/** How often each transition was reached. */
export type Reached = Map<number, number>;

// The same every day. A longer hunt: OWED_SEQUENCES=5000 OWED_SEED=$RANDOM; one again: OWED_SEED=… of a failure.
const { OWED_SEQUENCES, OWED_SEED, OWED_PATH } = process.env;

/** Plays so many histories; throws with the seed, the path and the shrunk history of one that goes wrong. */
export async function hunt(
  database: TestDatabase,
  histories: fc.Arbitrary<History>,
  runs: number,
): Promise<Reached> {
  const reached: Reached = new Map();
  let played = 0;
  const property = fc.asyncProperty(histories, async (history) => {
    // The rows that histories leave behind slow the next ones down.
    if (played++ % 20 === 19) await database.sql.unsafe("VACUUM");
    const { left, wrong } = await play(database, history);
    for (const change of left.changes) {
      const transition = transitionOf(change);
      if (transition) reached.set(transition, (reached.get(transition) ?? 0) + 1);
    }
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
  });
  const found = await fc.check(property, {
    examples: examples.map((history) => [history]),
    numRuns: Number(OWED_SEQUENCES ?? runs),
    seed: Number(OWED_SEED ?? 1),
    ...(OWED_PATH && { path: OWED_PATH }),
  });
  if (OWED_SEQUENCES) console.info(`transitions reached: ${JSON.stringify(Object.fromEntries(reached))}`);
  if (!found.failed) return reached;
  const [history] = found.counterexample ?? [];
  const error = found.errorInstance;
  throw new Error(
    [
      `after ${found.numRuns} histories: OWED_SEED=${found.seed} OWED_PATH=${found.counterexamplePath}`,
      history ? describe(history) : "",
      error instanceof Error ? error.message : String(error),
    ].join("\n"),
  );
}

export function expectAllReached(reached: Reached): void {
  expect(transitions.filter((transition) => !reached.has(transition))).toEqual([]);
}
