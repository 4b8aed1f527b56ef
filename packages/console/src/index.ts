export type { Context, Sandbox } from "./context.ts";
export { type Console, type ConsoleOptions, startConsole } from "./start.ts";
