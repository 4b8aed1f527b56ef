import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";
import type { OnTheWay } from "./lease.ts";

/** What a channel has before it, and what it may do. Counts are of this moment, by the ledger. */
export type ChannelLoad = {
  channel: string;
  /** Rows due and not in the queue. */
  due: number;
  /** Rows that the queue or a worker has. */
  inQueue: number;
  /** Messages a second that the provider takes; null: no limit is known. */
  rate: number | null;
  /** Messages that the provider takes until its 24 hours have moved on; null: no limit is known. */
  quotaLeft: number | null;
  /** Seconds since the provider was asked for its limits; null: never. */
  limitsAge: number | null;
  closed: boolean;
  /** The breaker has opened, and no answer has said since that the provider works. */
  probing: boolean;
};

export type Beginning =
  | {
      taken: true;
      run: string;
      channels: ChannelLoad[];
      /** Nothing is owed since before, exactly as the database has it; null: nothing is owed. */
      oldestOwedAt: string | null;
      onTheWay: OnTheWay;
      /** Rows are due whose message was queued for long, whose worker vanished, or whose outcome is unknown. */
      queuedOverdue: boolean;
      vanished: boolean;
      unknownDue: boolean;
      /** The queue has reported itself empty in the runs before, for long enough to prove a message lost if it does now. */
      queueWasEmpty: boolean;
      /** Sweeps have followed one another, and evidence came in time, for long enough that what was on its way has come. */
      settled: boolean;
      /** Rows that the old sender has in shadow are due, and none of them has been judged. */
      shadowDue: boolean;
      /** It is time to look for history that is over: see `retain`. */
      retentionDue: boolean;
    }
  | { taken: false; why: "paused" | "held" };

type Row = {
  run: string | null;
  paused: boolean;
  channels: ChannelLoad[] | null;
  oldest_owed_at: string | null;
  on_the_way: string[] | null;
  now: string;
  queued_overdue: boolean | null;
  vanished: boolean | null;
  unknown_due: boolean | null;
  queue_was_empty: boolean | null;
  settled: boolean | null;
  shadow_due: boolean;
  retention_due: boolean;
};

/**
 * Takes the heartbeat when it is free, or its holder's time has passed, opens the run's row, and reads what each
 * channel has before it. Its cost follows the backlog, never the ledger's history.
 */
export async function beginSweep(ledger: Ledger, durations: Durations): Promise<Beginning> {
  const [row] = await ledger.run(
    (sql) => sql<Row[]>`
      WITH free AS (
        SELECT FROM owed.heartbeat
        WHERE paused_at IS NULL AND (held_until IS NULL OR held_until <= now())
        FOR UPDATE
      ), run AS (
        INSERT INTO owed.sweep_run (started_at) SELECT now() FROM free RETURNING id
      ), taken AS (
        UPDATE owed.heartbeat SET holder = run.id, held_until = now() + make_interval(secs => ${durations.heartbeat}),
          beating_since = CASE WHEN beat_at < now() - make_interval(secs => ${durations.settle}) THEN now() ELSE beating_since END
        FROM run
        RETURNING queue_empty_since, beating_since
      ), load AS (
        SELECT load.* FROM run CROSS JOIN LATERAL owed.load(${durations.lostAfter}, ${durations.lease}) AS load
      )
      SELECT (SELECT id FROM run) AS run,
        (SELECT paused_at IS NOT NULL FROM owed.heartbeat) AS paused,
        (SELECT json_agg(json_build_object('channel', c.name, 'due', coalesce(load.due, 0), 'inQueue', coalesce(load.in_queue, 0),
            'rate', c.rate, 'quotaLeft', CASE WHEN c.quota IS NOT NULL THEN greatest(c.quota - c.used, 0) END,
            'limitsAge', extract(epoch FROM now() - c.limits_read_at),
            'closed', coalesce(c.closed_until > now(), false), 'probing', c.openings > 0) ORDER BY c.name)
          FROM owed.channel c LEFT JOIN load ON load.channel = c.name) AS channels,
        (SELECT min(oldest_owed_at)::text FROM load) AS oldest_owed_at,
        (SELECT json_agg(row.id) FROM load CROSS JOIN unnest(load.on_the_way) AS row (id)) AS on_the_way,
        now()::text AS now,
        (SELECT bool_or(queued_overdue) FROM load) AS queued_overdue,
        (SELECT bool_or(vanished) FROM load) AS vanished,
        (SELECT bool_or(unknown_due) FROM load) AS unknown_due,
        (SELECT queue_empty_since <= now() - make_interval(secs => ${durations.queueEmpty}) FROM taken) AS queue_was_empty,
        (SELECT beating_since <= now() - make_interval(secs => ${durations.settle}) FROM taken) AND NOT EXISTS (
          SELECT FROM owed.channel WHERE evidence_late_at > now() - make_interval(secs => ${durations.settle})) AS settled,
        EXISTS (SELECT FROM owed.notification
          WHERE mode = 'shadow' AND shadow_published_at IS NULL AND shadow_moot IS NULL AND due_at <= now()) AS shadow_due,
        (SELECT next_at <= now() FROM owed.retention) AS retention_due`,
    { repeatable: false },
  );
  if (!row?.run) return { taken: false, why: row?.paused ? "paused" : "held" };
  return {
    taken: true,
    run: row.run,
    channels: row.channels ?? [],
    oldestOwedAt: row.oldest_owed_at,
    onTheWay: { at: row.now, rows: row.on_the_way ?? [] },
    queuedOverdue: row.queued_overdue ?? false,
    vanished: row.vanished ?? false,
    unknownDue: row.unknown_due ?? false,
    queueWasEmpty: row.queue_was_empty ?? false,
    settled: row.settled ?? false,
    shadowDue: row.shadow_due,
    retentionDue: row.retention_due,
  };
}
