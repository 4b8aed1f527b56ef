import type { Verdict } from "../mutant.ts";
import { judge, type Trial } from "./judge.ts";
import { Runner } from "./runner.ts";

// A process of its own: takes mutants one by one, answers each with its verdict, and ends when nobody listens.

const runner = await Runner.start();

const end = async () => {
  await runner.stop();
  process.exit(0);
};
process.on("disconnect", () => void end());
process.on("SIGTERM", () => void end());
process.on("SIGINT", () => {});

process.on("message", async (trial: Trial) => {
  const start = performance.now();
  let verdict: Verdict;
  try {
    verdict = await judge(runner, trial);
  } catch (error) {
    verdict = { result: "invalid", why: `the lane failed: ${error instanceof Error ? error.stack : error}` };
  }
  // Who asked may be gone by now.
  if (process.connected)
    process.send?.({ id: trial.mutant.id, verdict, ms: Math.round(performance.now() - start) });
});
process.send?.("ready");
