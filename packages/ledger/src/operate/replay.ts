import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "./refusal.ts";

/**
 * Owes dead and unknown rows again, with their next generation and their counters at nought (transition 19).
 * The replay of an unknown row may be a duplicate and is counted as one. Returns the ids that were replayed.
 */
export async function replay(
  ledger: Ledger,
  ids: readonly string[],
  act: Act,
  kind: "replayed" | "redriven",
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await ledger.run(
    (sql) => sql<{ id: string }[]>`
      WITH row AS MATERIALIZED (
        SELECT id, state,
          -- One that died untried has no attempt that keeps its reason.
          CASE WHEN attempts = 0 THEN ' (before: ' || reason || ')' ELSE '' END AS before
        FROM owed.notification
        WHERE id = ANY(${ids.toSorted()}::uuid[]) AND state IN ('dead', 'unknown')
        ORDER BY id FOR UPDATE
      ), replayed AS (
        UPDATE owed.notification n SET state = 'pending', generation = n.generation + 1, owed_at = now(),
          rescues = 0, resends = 0, died_at = NULL, stopped_at = NULL, reason = NULL
        FROM row WHERE n.id = row.id
        RETURNING n.id, row.state AS was, row.before, n.generation
      ), told AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, actor, reason)
        SELECT id, ${kind}, generation, ${act.actor}, ${act.why}::text || before
        FROM replayed
        UNION ALL
        SELECT id, 'resent', generation, ${act.actor}, 'possible duplicate: replayed while its outcome was unknown'
        FROM replayed WHERE was = 'unknown'
      )
      SELECT id FROM replayed`,
    { repeatable: false },
  );
  return rows.map((row) => row.id);
}
