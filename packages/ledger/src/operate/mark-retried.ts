import type { Ledger } from "../connect/ledger.ts";

/** Keeps that a refused event was given back to its queue, and by whom. */
export async function markRetried(ledger: Ledger, ids: readonly string[], actor: string): Promise<void> {
  if (ids.length === 0) return;
  await ledger.run(
    (sql) => sql`
      UPDATE owed.refused_event SET retried_at = now(), retried_by = ${actor}
      WHERE id = ANY(${[...ids]}::bigint[])`,
    { repeatable: true },
  );
}
