import { flushCompileCache } from "node:module";
import { createContext } from "@owed/local/context";

// One deliver worker in a process of its own, warm: its modules are loaded and it waits for its event. It may be
// killed at any point, and ends with its parent.

const { handler } = await import("@owed/functions/deliver");
// Who is killed writes no cache when it ends.
flushCompileCache();
process.once("disconnect", () => process.exit(0));
process.once("message", async (event: Parameters<typeof handler>[0]) => {
  const context = createContext({
    functionName: "deliver",
    region: process.env.AWS_REGION ?? "us-east-1",
    timeoutSeconds: 30,
  });
  process.send?.({ answered: await handler(event, context) });
});
process.send?.("ready");
