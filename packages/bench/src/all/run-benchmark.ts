import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Figure } from "../figures.ts";

/** What a benchmark printed last: its figures, and whatever else it measured. */
export type BenchmarkResult = { benchmark: string; figures: Figure[] };

/** A benchmark ended without a result. The message says how; its own output has said why. */
export class BenchmarkFailed extends Error {
  override readonly name = "BenchmarkFailed";
}

/**
 * Runs a benchmark in a process of its own, so that none of them meets what an earlier one left in memory. Its progress
 * and tables go where this process's go.
 *
 * @param program Node's arguments that start it
 * @throws BenchmarkFailed
 */
export async function runBenchmark(name: string, program: readonly string[]): Promise<BenchmarkResult> {
  const child = spawn(process.execPath, [...program, name, "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const end = () => child.kill();
  process.once("exit", end);
  try {
    const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
    if (code !== 0 && code !== 1) throw new BenchmarkFailed(`${name} ended with ${signal ?? code}.`);
    return parseResult(name, output);
  } finally {
    process.off("exit", end);
  }
}

/**
 * The last line of a benchmark's output.
 *
 * @throws BenchmarkFailed when that is no result of this benchmark
 */
export function parseResult(name: string, output: string): BenchmarkResult {
  const line = output.trimEnd().split("\n").at(-1) ?? "";
  let result: unknown;
  try {
    result = JSON.parse(line);
  } catch {
    throw new BenchmarkFailed(`${name} ended without a result: its last line is no JSON.`);
  }
  if (!isResult(result) || result.benchmark !== name)
    throw new BenchmarkFailed(`${name} ended without its figures.`);
  return result;
}

const isResult = (value: unknown): value is BenchmarkResult =>
  value instanceof Object &&
  "benchmark" in value &&
  "figures" in value &&
  Array.isArray(value.figures) &&
  value.figures.every(isFigure);

function isFigure(value: unknown): value is Figure {
  const { name, value: measured, unit, target, sense }: Record<string, unknown> = Object(value);
  const texts = typeof name === "string" && typeof unit === "string";
  // JSON has no NaN: where nothing could be measured, it says null, and the figure is missed.
  const numbers = (typeof measured === "number" || measured === null) && typeof target === "number";
  return texts && numbers && (sense === "at least" || sense === "at most");
}
