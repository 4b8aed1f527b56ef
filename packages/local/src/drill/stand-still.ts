import { type Ledger, pause, resume } from "@owed/ledger";
import type { Stack } from "../stack.ts";

/**
 * No beat any more. The ledger is told as well: two beats would go by until it notices, in which ingest still publishes
 * what is owed at once.
 */
export async function standStill(stack: Stack, ledger: Ledger): Promise<void> {
  stack.schedule.pause();
  await pause(ledger, "drill", "an outage");
}

export async function goOn(stack: Stack, ledger: Ledger): Promise<void> {
  await resume(ledger, { actor: "drill", why: null });
  stack.schedule.resume();
}
