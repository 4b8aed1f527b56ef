import { seededRandom } from "../../packages/local/src/random.ts";
import { equivalent } from "./equivalent.ts";
import type { Mutant } from "./mutant.ts";

export type Choice = {
  /** Ids, or what they begin with; none: all. */
  only: readonly string[];
  /** Also those that change what is written, not who may write it. */
  details: boolean;
  /** So many of them, the same ones for the same seed. */
  sample: number | null;
  seed: number;
};

/** Those of all mutants that are to be run, and how many were left out as equivalent. */
export function pick(mutants: readonly Mutant[], choice: Choice): { picked: Mutant[]; equivalent: number } {
  const ids = new Set(equivalent.flatMap((group) => group.ids));
  const chosen = mutants.filter(
    ({ id, kind }) =>
      (choice.only.length === 0 && (choice.details || kind === "guard")) ||
      choice.only.some((start) => id.startsWith(start)),
  );
  const able = chosen.filter(({ id }) => !ids.has(id));
  const picked = choice.sample === null ? able : sample(able, choice.sample, choice.seed);
  return { picked, equivalent: chosen.length - able.length };
}

/** Ids of the list that no mutant has any more: the product has changed, and the reason may not hold. */
export function staleIds(mutants: readonly Mutant[]): string[] {
  const existing = new Set(mutants.map(({ id }) => id));
  return equivalent.flatMap(({ ids }) => ids.filter((id) => !existing.has(id)));
}

function sample<T>(all: readonly T[], size: number, seed: number): T[] {
  const next = seededRandom(seed);
  return all
    .map((one) => ({ one, key: next() }))
    .toSorted((a, b) => a.key - b.key)
    .slice(0, size)
    .map(({ one }) => one);
}
