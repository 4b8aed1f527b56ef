import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Trial } from "./lane/judge.ts";
import type { Judged } from "./mutant.ts";

const program = fileURLToPath(new URL("./lane/lane.ts", import.meta.url));

/** Milliseconds that a mutant may take in all: beyond them something hangs that no test's own limit ends. */
const patience = 15 * 60_000;

/** Judges mutants in so many processes side by side, and tells of each as it is done. */
export async function judgeAll(
  trials: readonly Trial[],
  lanes: number,
  onJudged: (judged: Judged) => void,
): Promise<void> {
  const waiting = [...trials];
  await Promise.all(Array.from({ length: Math.min(lanes, trials.length) }, work));

  async function work(): Promise<void> {
    let lane = await startLane();
    try {
      for (let trial = waiting.shift(); trial; trial = waiting.shift()) {
        const judged = await judgeOne(lane, trial);
        onJudged(judged);
        if (judged.verdict.result !== "hung" || judged.verdict.by.file !== "") continue;
        await stopLane(lane);
        lane = await startLane();
      }
    } finally {
      // After an error the other lanes end with what they have.
      waiting.length = 0;
      await stopLane(lane);
    }
  }
}

async function startLane(): Promise<ChildProcess> {
  const lane = fork(program, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const [ready] = await Promise.race([once(lane, "message"), once(lane, "exit")]);
  if (ready !== "ready") throw new Error("a process that runs the mutants ended before its first one");
  return lane;
}

async function judgeOne(lane: ChildProcess, trial: Trial): Promise<Judged> {
  const over = new AbortController();
  const answer = once(lane, "message", {
    signal: AbortSignal.any([over.signal, AbortSignal.timeout(patience)]),
  });
  const gone = once(lane, "exit", { signal: over.signal }).then(() => {
    throw new Error(`the process ended while it ran ${trial.mutant.id}`);
  });
  lane.send(trial);
  try {
    const [judged]: Judged[] = await Promise.race([answer, gone]);
    if (!judged) throw new Error("a process gave no verdict");
    return judged;
  } catch (error) {
    if (!(error instanceof Error && error.name === "AbortError")) throw error;
    return { id: trial.mutant.id, verdict: { result: "hung", by: { file: "", test: "" } }, ms: patience };
  } finally {
    over.abort();
    gone.catch(() => {});
    answer.catch(() => {});
  }
}

async function stopLane(lane: ChildProcess): Promise<void> {
  if (lane.exitCode !== null || lane.signalCode !== null) return;
  const gone = once(lane, "exit");
  lane.kill("SIGTERM");
  const timer = setTimeout(() => lane.kill("SIGKILL"), 30_000);
  await gone;
  clearTimeout(timer);
}
