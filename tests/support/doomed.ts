import type { Cloud } from "./cloud.ts";
import { startFunction } from "./function-process.ts";

/** Invokes a function in a process of its own. `kill` ends it as SIGKILL does: nothing in it hears of that. */
export function invokeDoomed(
  { environment }: Pick<Cloud, "environment">,
  name: "sweep" | "deliver",
  event: unknown,
): { kill(): Promise<void> } {
  const starting = startFunction(name, { environment });
  let over = false;
  const invoked = starting.then((process) => process.invoke(event)).finally(() => (over = true));
  // It is killed, or the test is over before that.
  invoked.catch(() => {});
  return {
    async kill() {
      if (over) throw new Error(`${name} had ended by itself`);
      await (await starting).kill();
    },
  };
}
