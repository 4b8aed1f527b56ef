import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Cloud } from "./cloud.ts";

/** Invokes a function in a process of its own. `kill` ends it as SIGKILL does: nothing in it hears of that. */
export function invokeDoomed(
  { environment }: Pick<Cloud, "environment">,
  name: "sweep" | "deliver",
  event: unknown,
): { kill(): Promise<void> } {
  const program = fileURLToPath(new URL("run-function.ts", import.meta.url));
  const child = spawn(process.execPath, [program, name], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ["pipe", "inherit", "inherit"],
  });
  const exited = once(child, "exit");
  child.stdin?.end(JSON.stringify(event));
  return {
    async kill() {
      if (child.exitCode !== null) throw new Error(`${name} had ended by itself (${child.exitCode})`);
      child.kill("SIGKILL");
      await exited;
    },
  };
}
