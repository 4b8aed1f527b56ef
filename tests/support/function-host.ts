import { subscribe } from "node:diagnostics_channel";
import { flushCompileCache } from "node:module";
import type { Step } from "@owed/functions/step";
import { createContext } from "../../packages/local/src/event-source/context.ts";
import { advanceClocks } from "./clocks.ts";

// One function in a process of its own, invoked over IPC as often as its parent likes, and stopped at a step where the
// parent says so. Its modules are loaded once and its connections kept, as in a container of Lambda's.

/** Where an invocation ends or stands still: at the nth time that it reaches a step. */
export type Stop = { step: Step; nth: number } & (
  | { how: "kill" }
  /** Stands still for so many seconds, by its clocks, once the parent lets it go on. */
  | { how: "freeze"; seconds: number }
);
export type Invocation = { event: unknown; stop: Stop | null; timeoutSeconds: number };
export type Said = { ready: true } | { frozen: true } | { answer: unknown } | { error: string };

const functions = {
  ingest: () => import("@owed/functions/ingest"),
  sweep: () => import("@owed/functions/sweep"),
  deliver: () => import("@owed/functions/deliver"),
  feedback: () => import("@owed/functions/feedback"),
};

const [, , name = "", wallAhead = "0"] = process.argv;
if (!Object.hasOwn(functions, name)) throw new Error("function-host.ts ingest|sweep|deliver|feedback");
const { handler } = (await functions[name as keyof typeof functions]()) as {
  handler: (event: unknown, context: ReturnType<typeof createContext>) => Promise<unknown>;
};
// Who is killed writes no cache when it ends.
flushCompileCache();
advanceClocks({ wall: Number(wallAhead) });

let stop: Stop | null = null;
let times = 0;
subscribe("owed:step", (step) => {
  if (stop === null || step !== stop.step) return;
  times += 1;
  if (times !== stop.nth) return;
  const { how } = stop;
  if (how === "kill") process.kill(process.pid, "SIGKILL");
  else {
    const { seconds } = stop;
    say({ frozen: true });
    process.kill(process.pid, "SIGSTOP");
    // Here the parent has let it go on.
    advanceClocks({ both: seconds });
  }
});

const say = (said: Said) => process.send?.(said);
process.once("disconnect", () => process.exit(0));
process.on("message", async (invocation: Invocation) => {
  stop = invocation.stop;
  times = 0;
  const { timeoutSeconds } = invocation;
  const context = createContext({ functionName: name, region: "us-east-1", timeoutSeconds });
  try {
    say({ answer: (await handler(invocation.event, context)) ?? null });
  } catch (error) {
    say({ error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
  }
});
say({ ready: true });
