import { vi } from "vitest";

/** Waits until `check` no longer throws, for so many seconds at most; polls often, and is patient on a busy machine. */
export const eventually = <T>(check: () => T | Promise<T>, seconds = 40): Promise<T> =>
  vi.waitFor(check, { timeout: seconds * 1000, interval: 25 });
