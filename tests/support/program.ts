import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A program of ours in a process of its own: what it said so far, and its exit code once it has ended. */
export type Program = { child: ChildProcess; output: () => string; ended: Promise<number | null> };

/** Starts a program with nothing of this process's environment but what Node needs. */
export function startProgram(path: string, argv: readonly string[], env: Record<string, string>): Program {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [path, ...argv], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH, NODE_COMPILE_CACHE, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const ended = once(child, "close").then(([code]: (number | null)[]) => code ?? null);
  return { child, output: () => output, ended };
}

/** Resolves once the program says this; rejects with all that it said when it ends before. */
export async function says({ child, output, ended }: Program, what: string): Promise<void> {
  const told = new Promise<void>((tell) => {
    child.stdout?.on("data", () => output().includes(what) && tell());
  });
  const failed = ended.then((code) => {
    throw new Error(`the program ended with ${code}:\n${output()}`);
  });
  failed.catch(() => {});
  await Promise.race([told, failed]);
}

/** Ends those that still run, and forgets them all. */
export async function endAll(programs: Set<Program>, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  for (const { child } of programs) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill(signal);
    await once(child, "exit");
  }
  programs.clear();
}
