import type { SendResult } from "./channel.ts";
import { RefusedError } from "./errors.ts";

/**
 * The result for a row that cannot be composed: it fails in the same way each time, so nobody is asked. Of an unexpected
 * error only the name is told, since its text may quote the row.
 */
export function refused(error: unknown): SendResult {
  if (error instanceof RefusedError) return { outcome: "refused", reason: error.message, answered: false };
  const name = error instanceof Error ? error.name : "error";
  return { outcome: "refused", reason: `Uncomposable: ${name}`, answered: false };
}
