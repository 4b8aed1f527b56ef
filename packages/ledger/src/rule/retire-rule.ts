import { NotAllowed } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "../operate/refusal.ts";

/**
 * Has a rule tell nobody any more. What is owed already stays owed. A merchant whose last rule for a status, role and
 * channel is retired has the default ones again. Throws `NotAllowed` for one that does not count (any more).
 */
export async function retireRule(ledger: Ledger, id: string, { actor, why }: Act): Promise<void> {
  const retired = await ledger.run(
    (sql) => sql`
      UPDATE owed.rule SET active = false, retired_at = clock_timestamp(), retired_by = ${actor}, retired_why = ${why}
      WHERE id = ${id}::bigint AND active`,
    { repeatable: false },
  );
  if (retired.count === 0) throw new NotAllowed(`rule ${id} does not exist, or is retired already`);
}
