import { vi } from "vitest";

/** Waits until a check holds: as long as a loaded machine may need, and no longer than it takes. */
export const until = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 10_000, interval: 10 });
