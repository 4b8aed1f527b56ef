import { vi } from "vitest";

/** Waits until `check` no longer throws; polls often, and is patient on a busy machine. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 40_000, interval: 25 });
