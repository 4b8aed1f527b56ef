import { NotAllowed } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "./refusal.ts";

/**
 * Lifts the suppression of an address: it is written to again, from the next notification on. What was cancelled
 * meanwhile stays so. Throws `NotAllowed` when the address is not suppressed.
 */
export async function liftSuppression(
  ledger: Ledger,
  { channel, address }: { channel: string; address: string },
  act: Act,
): Promise<void> {
  const lifted = await ledger.run(
    (sql) => sql`
      UPDATE owed.suppression SET lifted_at = clock_timestamp(), lifted_by = ${act.actor}, lifted_why = ${act.why}
      WHERE channel = ${channel} AND address = ANY (owed.address_keys(${address})) AND lifted_at IS NULL`,
    { repeatable: false },
  );
  if (lifted.count === 0) throw new NotAllowed(`the address is not suppressed on the channel ${channel}`);
}
