import type { Ledger } from "../connect/ledger.ts";
import type { Leased } from "../sweep/lease.ts";

export type ShadowSlice = {
  /** Still true: to be published in shadow, oldest first. */
  due: Leased[];
  /** Judged now as not to be sent, and marked so. */
  moot: number;
};

/**
 * What would be published now of the rows that the old sender has in shadow, at most so many: those that are still true.
 * The others are marked with why not. No state moves, and no row is leased: that another sweep publishes the same is
 * harmless, since the deduplication id comes from the row.
 */
export async function takeShadow(ledger: Ledger, most: number): Promise<ShadowSlice> {
  const rows = await ledger.run(
    (sql) => sql<{ id: string; generation: number; subscriber_id: string; why: string | null }[]>`
      WITH due AS MATERIALIZED (
        SELECT id, generation, subscriber_id, due_at,
          -- What ended by itself would not have been sent; what the old sender sent, or would not send, is judged like the rest.
          CASE WHEN state = 'dead' OR (state = 'cancelled' AND cancelled_by IS DISTINCT FROM 'old_sender') THEN coalesce(reason, state) END AS ended
        FROM owed.notification
        WHERE mode = 'shadow' AND shadow_published_at IS NULL AND shadow_moot IS NULL AND due_at <= now()
        ORDER BY due_at, id LIMIT ${most}
      ), judged AS MATERIALIZED (
        SELECT due.*, coalesce(due.ended, moot.reason) AS why
        FROM due LEFT JOIN LATERAL (
          SELECT still.reason FROM owed.moot AS still WHERE still.id = due.id AND due.ended IS NULL OFFSET 0) AS moot ON true
      ), locked AS (
        SELECT n.id, judged.why FROM owed.notification n JOIN judged ON judged.id = n.id
        WHERE judged.why IS NOT NULL AND n.mode = 'shadow'
        ORDER BY n.id FOR NO KEY UPDATE OF n
      ), marked AS (
        UPDATE owed.notification n SET shadow_moot = locked.why FROM locked WHERE n.id = locked.id
      )
      SELECT id, generation, subscriber_id, why FROM judged ORDER BY due_at, id`,
    { repeatable: true },
  );
  const due = rows.filter(({ why }) => why === null);
  return {
    due: due.map(({ id, generation, subscriber_id }) => ({ id, generation, token: 0, group: subscriber_id })),
    moot: rows.length - due.length,
  };
}
