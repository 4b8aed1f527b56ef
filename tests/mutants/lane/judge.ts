import { candidatesFor } from "../candidates.ts";
import type { Killer, Mutant, Verdict } from "../mutant.ts";
import type { Failure, Runner } from "./runner.ts";

/** Which tests to try: the files in their order, and before them the one that caught this mutant the last time. */
export type Trial = { mutant: Mutant; known: Killer | null; most?: number };

/** Runs test files against a mutant until one of them fails. */
export async function judge(runner: Runner, { mutant, known, most }: Trial): Promise<Verdict> {
  try {
    await runner.use(mutant);
  } catch (error) {
    return { result: "invalid", why: error instanceof Error ? error.message : String(error) };
  }
  try {
    if (known) {
      const failure = await runner.run(known.file, known.test);
      if (failure) return verdictOf(failure, known.file);
    }
    let unreadable: string | null = null;
    for (const file of candidatesFor(mutant).slice(0, most)) {
      const failure = await runner.run(file);
      if (!failure) continue;
      const verdict = verdictOf(failure, file);
      if (verdict.result === "invalid") unreadable ??= verdict.why;
      // A test that fails by itself catches nothing.
      else if (await passesWithout(runner, mutant, verdict)) return verdict;
      if (unreadable !== null) return { result: "invalid", why: unreadable };
    }
    return { result: "survived" };
  } finally {
    await runner.use(null);
  }
}

/** Tests that have passed without any mutant. */
const sound = new Set<string>();

async function passesWithout(runner: Runner, mutant: Mutant, verdict: Verdict): Promise<boolean> {
  if (!("by" in verdict)) return false;
  const { file, test } = verdict.by;
  const name = `${file} ${test}`;
  if (sound.has(name)) return true;
  await runner.use(null);
  const failure = await runner.run(file, test || undefined);
  await runner.use(mutant);
  if (failure === null) sound.add(name);
  return failure === null;
}

function verdictOf({ test, errors }: Failure, file: string): Verdict {
  // Class 42: what was mutated is not SQL any more. 42501 is a right that was refused, as a guard may.
  const unreadable = errors.find(({ code }) => /^42(?!501)\w{3}$/.test(code));
  const broken = errors.find(({ message }) =>
    /^(?:Transform failed|SyntaxError|Parse failure)/.test(message),
  );
  if (unreadable ?? broken) return { result: "invalid", why: (unreadable ?? broken)?.message ?? "" };
  const hung = errors.length > 0 && errors.every(({ message }) => /timed out in \d+ms/.test(message));
  return { result: hung ? "hung" : "caught", by: { file, test } };
}
