import type { Ledger } from "../connect/ledger.ts";
import type { State } from "../states.ts";

export type Status = {
  /** Rows due and not yet in the queue or with a worker. */
  owed: number;
  /** Seconds since the oldest of them was due; 0 when there is none. */
  oldestOwedAge: number;
  states: Record<State, number>;
  /** Rows that wait for a person: dead, or unknown and held. */
  stopped: number;
  /** Resends whose first send may have arrived as well, and those that certainly did. */
  possibleDuplicates: number;
  duplicates: number;
  lastSweepAt: Date | null;
  paused: { at: Date; by: string; why: string | null } | null;
};

type Row = {
  owed: number;
  oldest_owed_s: number;
  stopped: number;
  possible_duplicates: number;
  duplicates: number;
  last_sweep_at: Date | null;
  paused_at: Date | null;
  paused_by: string | null;
  paused_why: string | null;
  states: Partial<Record<State, number>>;
};

/** What is owed now, how old it is, and how many rows are in each state. How long it takes: `readChannels`. */
export async function readStatus(ledger: Ledger): Promise<Status> {
  const [row] = await ledger.run(
    (sql) => sql<Row[]>`
      SELECT due.*, beat.paused_at, beat.paused_by, beat.paused_why, repeated.*,
        (SELECT count(*)::int FROM owed.notification WHERE stopped_at IS NOT NULL) AS stopped,
        (SELECT max(finished_at) FROM owed.sweep_run WHERE started_at > now() - interval '30 days') AS last_sweep_at,
        (SELECT coalesce(json_object_agg(state, number), '{}') FROM (
          SELECT state, count(*) AS number FROM owed.notification GROUP BY state) AS counted) AS states
      FROM owed.heartbeat AS beat,
      (SELECT count(*)::int AS owed, greatest(0, coalesce(extract(epoch FROM now() - min(due_at)), 0))::float8 AS oldest_owed_s
        FROM owed.notification WHERE owed_at <= now() AND state IN ('pending', 'leased')) AS due,
      (SELECT count(*) FILTER (WHERE kind = 'resent')::int AS possible_duplicates,
          count(*) FILTER (WHERE kind = 'duplicate')::int AS duplicates
        FROM owed.attempt WHERE kind IN ('resent', 'duplicate')) AS repeated`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger has no heartbeat row: run the migrations ('npm start' does)");
  const count = (state: State) => row.states[state] ?? 0;
  return {
    owed: row.owed,
    oldestOwedAge: row.oldest_owed_s,
    states: {
      pending: count("pending"),
      leased: count("leased"),
      queued: count("queued"),
      sending: count("sending"),
      unknown: count("unknown"),
      delivered: count("delivered"),
      dead: count("dead"),
      cancelled: count("cancelled"),
    },
    stopped: row.stopped,
    possibleDuplicates: row.possible_duplicates,
    duplicates: row.duplicates,
    lastSweepAt: row.last_sweep_at,
    paused:
      row.paused_at && row.paused_by ? { at: row.paused_at, by: row.paused_by, why: row.paused_why } : null,
  };
}
