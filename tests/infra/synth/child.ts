/** One synthesis in a process of its own: the components, Pulumi and the program keep state that the next must not find. */
import type { Answer, Task } from "./synthesis.ts";
import { synthesise } from "./synthesise.ts";

/** Milliseconds after the first error in which others may follow: they are told together. */
const grace = 100;

const errors = new Set<string>();

function answer(said: Answer): void {
  process.send?.(said, () => process.exit());
}

/** A resource whose input is rejected stays pending for ever, so the end is not waited for. */
function fail(error: unknown): void {
  if (errors.size === 0) setTimeout(() => answer({ errors: [...errors] }), grace);
  errors.add(describe(error));
}

/** The message, and the place in infra/ when it was thrown there. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = /(?<!tests\/)\binfra\/[\w-]+\.ts:\d+/.exec(error.stack ?? "")?.[0];
  return place ? `${error.message} (${place})` : error.message;
}

// Whoever waited for it is gone.
process.once("disconnect", () => process.exit(1));
process.setSourceMapsEnabled(true);
process.on("unhandledRejection", fail);
process.on("uncaughtException", fail);
process.once("message", (task: Task) => {
  synthesise(task).then((synthesis) => {
    if (errors.size === 0) answer({ synthesis });
  }, fail);
});
