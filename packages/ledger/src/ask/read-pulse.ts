import type { Ledger } from "../connect/ledger.ts";
import type { State } from "../states.ts";
import type { Status } from "./status.ts";

type Alive = Exclude<State, "delivered" | "dead" | "cancelled">;

/** What the ledger says every second, however long its history is. */
export type Pulse = Pick<Status, "owed" | "oldestOwedAge" | "stopped" | "lastSweepAt" | "paused"> & {
  /** What has not ended: of `pending` what is due by now, of `unknown` also what is held. */
  states: Record<Alive, number>;
};

type Row = Omit<Pulse, "paused"> & {
  paused_at: Date | null;
  paused_by: string | null;
  paused_why: string | null;
};

/**
 * What is owed now, how old it is, and what is alive. By the small indexes of what is owed and what has stopped alone:
 * it costs as much as there is backlog. What a provider put off for more than two hours is not counted among `states`.
 */
export async function readPulse(ledger: Ledger): Promise<Pulse> {
  const [row] = await ledger.run(
    (sql) => sql<Row[]>`
      SELECT alive.owed, alive.oldest AS "oldestOwedAge", stopped.rows AS stopped, beat.paused_at, beat.paused_by, beat.paused_why,
        (SELECT finished_at FROM owed.sweep_run WHERE finished_at <= now() AND started_at <= now() ORDER BY started_at DESC LIMIT 1) AS "lastSweepAt",
        json_build_object('pending', alive.pending, 'leased', alive.leased, 'queued', alive.queued, 'sending', alive.sending,
          'unknown', alive.unknown + stopped.unknown) AS states
      FROM owed.heartbeat AS beat,
      (SELECT count(*) FILTER (WHERE state IN ('pending', 'leased') AND owed_at <= now())::int AS owed,
          greatest(0, coalesce(extract(epoch FROM now() - min(due_at) FILTER (WHERE state IN ('pending', 'leased') AND owed_at <= now())), 0))::float8 AS oldest,
          count(*) FILTER (WHERE state = 'pending' AND due_at <= now()) AS pending,
          count(*) FILTER (WHERE state = 'leased') AS leased,
          count(*) FILTER (WHERE state = 'queued') AS queued,
          count(*) FILTER (WHERE state = 'sending') AS sending,
          count(*) FILTER (WHERE state = 'unknown') AS unknown
        FROM owed.notification WHERE owed_at <= now() + interval '2 hours') AS alive,
      (SELECT count(*)::int AS rows, count(*) FILTER (WHERE state = 'unknown') AS unknown
        FROM owed.notification WHERE stopped_at IS NOT NULL) AS stopped`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger has no heartbeat row: run the migrations ('npm start' does)");
  const { paused_at: at, paused_by: by, paused_why: why, ...pulse } = row;
  return { ...pulse, paused: at && by ? { at, by, why } : null };
}
