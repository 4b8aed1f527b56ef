import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";

/** A row leased to whoever asked: the token fences every later write to it. */
export type Leased = { id: string; generation: number; token: number; group: string };

export type Sql = Parameters<Parameters<Ledger["run"]>[0]>[0];
export type Fragment = ReturnType<Sql>;

export type LeasedRow = {
  id: string;
  did: "lease" | "cancel";
  generation: number;
  token: number;
  subscriber_id: string;
  channel: string;
  /** Of all of them: since when the oldest was owed, and until when they are leased; exactly as the database has it. */
  was: string;
  until: string | null;
};

/**
 * Leases rows that are still true, and cancels those that are not (transitions 1 and 18 of docs/states.md), in one
 * statement, oldest first. `due`: one or more common table expressions, of which the last, `due`, has the rows locked
 * (`id`, `owed_at`): materialised before anything joins it, so that its limits are exact under every plan.
 */
export const leaseRows = (
  ledger: Ledger,
  durations: Durations,
  due: (sql: Sql) => Fragment,
): Promise<LeasedRow[]> =>
  ledger.run(
    (sql) => sql<LeasedRow[]>`
      WITH ${due(sql)}, judged AS MATERIALIZED (
        SELECT due.id, due.owed_at, moot.reason, moot.by
        FROM due LEFT JOIN LATERAL (SELECT still.reason, still.by FROM owed.moot AS still WHERE still.id = due.id OFFSET 0) AS moot ON true
      ), moved AS (
        UPDATE owed.notification n SET
          state = CASE WHEN judged.reason IS NULL THEN 'leased' ELSE 'cancelled' END,
          owed_at = CASE WHEN judged.reason IS NULL THEN now() + make_interval(secs => ${durations.lease}) END,
          leased_until = CASE WHEN judged.reason IS NULL THEN now() + make_interval(secs => ${durations.lease}) ELSE n.leased_until END,
          lease_token = n.lease_token + CASE WHEN judged.reason IS NULL THEN 1 ELSE 0 END,
          cancelled_at = CASE WHEN judged.reason IS NOT NULL THEN now() END,
          cancelled_by = judged.by,
          reason = coalesce(judged.reason, n.reason)
        FROM judged WHERE n.id = judged.id
        RETURNING n.id, CASE WHEN judged.reason IS NULL THEN 'lease' ELSE 'cancel' END AS did, n.generation, n.lease_token,
          n.subscriber_id, n.channel, judged.owed_at, n.leased_until
      )
      SELECT id, did, generation, lease_token AS token, subscriber_id, channel, slice.was, slice.until
      FROM moved CROSS JOIN (
        SELECT min(owed_at)::text AS was, max(leased_until) FILTER (WHERE did = 'lease')::text AS until FROM moved) AS slice
      ORDER BY owed_at, id`,
    // Answer lost: the leases run out by themselves, and other rows are as good.
    { repeatable: true },
  );

/** Those of a statement's rows that were leased. */
export const leasedOf = (rows: readonly LeasedRow[]): Leased[] =>
  rows
    .filter((row) => row.did === "lease")
    .map(({ id, generation, token, subscriber_id }) => ({ id, generation, token, group: subscriber_id }));
