import { join } from "node:path";
import { createContext } from "../../packages/local/src/event-source/context.ts";

// One artefact in a process of its own, loaded and invoked as by Lambda's runtime for Node.js 24, over IPC.

export type Invocation = { event: unknown; timeoutSeconds: number };
/** Times in milliseconds: of the import, of one invocation. */
export type Said = { loaded: number } | { answer: unknown; took: number } | { error: string };

const say = (said: Said) => process.send?.(said);
const failed = (error: unknown) =>
  say({ error: error instanceof Error ? String(error.stack) : String(error) });

const { LAMBDA_TASK_ROOT: root = "", AWS_LAMBDA_FUNCTION_NAME: functionName = "" } = process.env;

async function load() {
  const { handler }: { handler: unknown } = await import(join(root, "bundle.mjs"));
  if (typeof handler !== "function") throw new Error("the bundle exports no function named handler");
  if (handler.length > 2) throw new Error("Node.js 24's runtime takes no handler with a callback");
  return handler;
}

try {
  const started = performance.now();
  const handler = await load();
  say({ loaded: performance.now() - started });

  process.on("message", async ({ event, timeoutSeconds }: Invocation) => {
    const context = createContext({ functionName, region: "us-east-1", timeoutSeconds });
    const started = performance.now();
    try {
      const answer: unknown = await handler(event, context);
      say({ answer: answer ?? null, took: performance.now() - started });
    } catch (error) {
      failed(error);
    }
  });
} catch (error) {
  failed(error);
}
process.once("disconnect", () => process.exit());
