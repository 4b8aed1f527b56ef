import { setTimeout as sleep } from "node:timers/promises";

/** Waits until `check` no longer throws, for so many seconds at most; polls often, and is patient on a busy machine. */
export async function eventually<T>(check: () => T | Promise<T>, seconds = 40): Promise<T> {
  for (const end = performance.now() + seconds * 1000; ; await sleep(25)) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}
