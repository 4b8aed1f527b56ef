import { text } from "node:stream/consumers";
import { createContext } from "../../packages/local/src/event-source/context.ts";

// One invocation of a function in a process of its own, which a test may kill at any point. Its event comes on
// standard input, its answer goes to standard output.

const functions = {
  sweep: async () => (await import("@owed/functions/sweep")).handler,
  deliver: async () => (await import("@owed/functions/deliver")).handler,
};

const name = process.argv[2];
if (name !== "sweep" && name !== "deliver") throw new Error("run-function.ts sweep|deliver");
const handler = await functions[name]();
const context = createContext({
  functionName: name,
  region: "us-east-1",
  timeoutSeconds: name === "sweep" ? 60 : 30,
});
const answer = await handler(JSON.parse(await text(process.stdin)), context);
process.stdout.write(`${JSON.stringify(answer)}\n`);
// The functions keep their connections for the next invocation, as on Lambda.
process.exit(0);
