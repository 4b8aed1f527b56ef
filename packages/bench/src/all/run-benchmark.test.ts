import { expect, test } from "vitest";
import { BenchmarkFailed, parseResult, runBenchmark } from "./run-benchmark.ts";

const figure = { name: "speed", value: 2, unit: "x", target: 1, sense: "at least" };
const result = { benchmark: "sweep", figures: [figure], more: [1] };

test("the last line is the result, with everything in it", () => {
  expect(parseResult("sweep", `a table\n${JSON.stringify(result)}\n`)).toEqual(result);
});

test.each([
  ["nothing", ""],
  ["a table", "┌──┐"],
  ["another benchmark's result", JSON.stringify({ ...result, benchmark: "flow" })],
  ["no figures", JSON.stringify({ benchmark: "sweep" })],
  ["a figure without a target", JSON.stringify({ ...result, figures: [{ ...figure, target: undefined }] })],
  ["null", "null"],
])("%s is no result", (_, output) => {
  expect(() => parseResult("sweep", output)).toThrow(BenchmarkFailed);
});

/** A program that is given the benchmark's name and `--json`. */
const program = (source: string) => ["-e", source, "--"];

test("a benchmark runs in a process of its own, and is asked for JSON", async () => {
  const says = `console.log(JSON.stringify({ benchmark: process.argv[1], figures: [], asked: process.argv[2], pid: process.pid }))`;
  const answer = await runBenchmark("idle", program(says));
  expect(answer).toMatchObject({ benchmark: "idle", asked: "--json", pid: expect.any(Number) });
  expect(answer).not.toMatchObject({ pid: process.pid });
});

test("a benchmark that is killed has failed", async () => {
  await expect(runBenchmark("idle", program("process.kill(process.pid, 'SIGKILL')"))).rejects.toThrow(
    "idle ended with SIGKILL.",
  );
});
