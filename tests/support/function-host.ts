import { subscribe } from "node:diagnostics_channel";
import { flushCompileCache } from "node:module";
import type { Step } from "@owed/functions/step";
import { createContext } from "../../packages/local/src/event-source/context.ts";
import { advanceClocks } from "./clocks.ts";

// One function in a process of its own, invoked over IPC as often as its parent likes, and stopped at a step where the
// parent says so. Its modules are loaded once and its connections kept, as in a container of Lambda's; a handler that
// Lambda's Node 24 would not take, or one that can't be loaded, is told as Lambda tells it.

/** Where an invocation ends or stands still: at the nth time that it reaches a step. */
export type Stop = { step: Step; nth: number } & (
  | { how: "kill" }
  /** Stands still for so many seconds, by its clocks, once the parent lets it go on. */
  | { how: "freeze"; seconds: number }
);
export type Invocation = {
  event: unknown;
  stop: Stop | null;
  timeoutSeconds: number;
  /** What the context has besides. */
  context: Record<string, unknown>;
  /** Seconds that the process was frozen before, by its clocks. */
  frozenFor: number;
};
export type Said =
  | { ready: true }
  | { unusable: string }
  | { frozen: true }
  | { answer: unknown }
  | { error: string };

const functions = {
  ingest: () => import("@owed/functions/ingest"),
  sweep: () => import("@owed/functions/sweep"),
  deliver: () => import("@owed/functions/deliver"),
  feedback: () => import("@owed/functions/feedback"),
  migrate: () => import("@owed/functions/migrate"),
};

const [, , name = "", wallAhead = "0"] = process.argv;
if (!Object.hasOwn(functions, name)) throw new Error(`function-host.ts ${Object.keys(functions).join("|")}`);
const say = (said: Said) => process.send?.(said);
const told = (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
const handler = await load(name as keyof typeof functions);
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

process.once("disconnect", () => process.exit(0));
process.on("message", async (invocation: Invocation) => {
  stop = invocation.stop;
  times = 0;
  const { timeoutSeconds, frozenFor } = invocation;
  if (frozenFor > 0) advanceClocks({ both: frozenFor });
  const context = createContext({ functionName: name, region: "us-east-1", timeoutSeconds });
  try {
    say({ answer: (await handler(invocation.event, { ...context, ...invocation.context })) ?? null });
  } catch (error) {
    say({ error: told(error) });
  }
});
say({ ready: true });

async function load(stage: keyof typeof functions) {
  try {
    const { handler } = (await functions[stage]()) as {
      handler: (event: unknown, context: ReturnType<typeof createContext>) => Promise<unknown>;
    };
    if (handler.length <= 2) return handler;
    throw new Error(`its handler takes ${handler.length} parameters, as one with a callback`);
  } catch (error) {
    say({ unusable: told(error) });
    return process.exit(1);
  }
}
