import { type Ledger, retain } from "@owed/ledger";
import type { Settings } from "../settings.ts";

export type Retaining = {
  ledger: Ledger;
  settings: Settings;
  /** False once the sweep's budget has ended. */
  inTime: () => boolean;
  onError?: ((message: string, error: unknown) => void) | undefined;
};

/** Steps of one sweep: with slices of 1,000, some tens of millions of rows a day. */
const steps = 20;

/**
 * Moves history that is over to the archive, some slices of it. Returns how many notifications went. Never throws: it
 * is done with the next beat, and nobody waits for it.
 */
export async function retainHistory({ ledger, settings, inTime, onError }: Retaining): Promise<number> {
  let moved = 0;
  try {
    for (let step = 0; step < steps && inTime(); step += 1) {
      const retained = await retain(ledger, settings.retention, settings.sweep.slice);
      moved += retained.moved;
      if (!retained.more) break;
    }
  } catch (error) {
    onError?.("history that is over could not be moved to the archive", error);
  }
  return moved;
}
