import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "./refusal.ts";

export type Replayed = {
  /** Owed again. */
  ids: string[];
  /** Left as they are, since nobody wants them any more: why not, by id. */
  moot: Map<string, string>;
};

/**
 * Owes dead rows again, and unknown ones unless they are redriven, at once or when they are due, with their next generation and their counters at nought (transition 19), if they
 * are still true. The replay of an unknown row may be a duplicate and is counted as one; so is that of a row that had
 * stopped when the ledger was restored.
 */
export async function replay(
  ledger: Ledger,
  ids: readonly string[],
  act: Act,
  kind: "replayed" | "redriven",
): Promise<Replayed> {
  if (ids.length === 0) return { ids: [], moot: new Map() };
  const rows = await ledger.run(
    (sql) => sql<{ id: string; moot: string | null }[]>`
      WITH row AS MATERIALIZED (
        SELECT id, CASE
            WHEN state = 'unknown' THEN 'replayed while its outcome was unknown'
            WHEN stopped_at <= (SELECT restored_at FROM owed.heartbeat) THEN 'replayed after the ledger was restored' END AS doubt,
          -- One that died untried has no attempt that keeps its reason.
          CASE WHEN attempts = 0 THEN ' (before: ' || reason || ')' ELSE '' END AS before
        FROM owed.notification
        WHERE id = ANY(${ids.toSorted()}::uuid[]) AND state = ANY (${kind === "redriven" ? ["dead"] : ["dead", "unknown"]}::text[])
        ORDER BY id FOR UPDATE
      ), judged AS MATERIALIZED (
        SELECT row.*, moot.reason AS moot
        FROM row LEFT JOIN LATERAL (SELECT still.reason FROM owed.moot AS still WHERE still.id = row.id OFFSET 0) AS moot ON true
      ), replayed AS (
        UPDATE owed.notification n SET state = 'pending', generation = n.generation + 1, owed_at = greatest(n.due_at, now()),
          rescues = 0, resends = 0, died_at = NULL, stopped_at = NULL, reason = NULL
        FROM judged WHERE n.id = judged.id AND judged.moot IS NULL
        RETURNING n.id, judged.doubt, judged.before, n.generation
      ), told AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, actor, reason)
        SELECT id, ${kind}, generation, ${act.actor}, ${act.why}::text || before
        FROM replayed
        UNION ALL
        SELECT id, 'resent', generation, ${act.actor}, 'possible duplicate: ' || doubt
        FROM replayed WHERE doubt IS NOT NULL
      )
      SELECT id, moot FROM judged ORDER BY id`,
    { repeatable: false },
  );
  return {
    ids: rows.filter((row) => row.moot === null).map((row) => row.id),
    moot: new Map(rows.flatMap(({ id, moot }) => (moot === null ? [] : [[id, moot] as const]))),
  };
}
