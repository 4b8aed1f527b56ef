import type { Ledger } from "../connect/ledger.ts";

/** Marks rows as published in shadow. What Owed has taken over meanwhile stays as it is. */
export async function markShadow(ledger: Ledger, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await ledger.run(
    (sql) => sql`
      WITH locked AS (
        SELECT id FROM owed.notification
        WHERE id = ANY(${ids.toSorted()}::uuid[]) AND mode = 'shadow' AND shadow_published_at IS NULL
        ORDER BY id FOR NO KEY UPDATE
      )
      UPDATE owed.notification n SET shadow_published_at = now() FROM locked WHERE n.id = locked.id`,
    { repeatable: true },
  );
}
