import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";

export type Beginning =
  | {
      taken: true;
      run: string;
      /** Something is due. */
      owed: boolean;
      /** Among what is due are rows whose message was queued for long, or whose outcome is unknown; or there may be. */
      queuedOverdue: boolean;
      unknownDue: boolean;
      /** The queue has reported itself empty in the runs before, for long enough to prove a message lost if it does now. */
      queueWasEmpty: boolean;
    }
  | { taken: false; why: "paused" | "held" };

type Row = {
  run: string | null;
  paused: boolean;
  owed: boolean;
  queued_overdue: boolean | null;
  unknown_due: boolean | null;
  queue_was_empty: boolean | null;
};

/**
 * Takes the heartbeat when it is free, or its holder's time has passed, and opens the run's row. Looks at the
 * first thousand due rows only: enough to know what to ask the queue, at a cost that no backlog moves.
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
        UPDATE owed.heartbeat SET holder = run.id, held_until = now() + make_interval(secs => ${durations.heartbeat})
        FROM run
        RETURNING queue_empty_since
      ), due AS (
        SELECT state FROM owed.notification WHERE owed_at <= now() ORDER BY owed_at LIMIT 1000
      )
      SELECT (SELECT id FROM run) AS run,
        (SELECT paused_at IS NOT NULL FROM owed.heartbeat) AS paused,
        EXISTS (SELECT FROM due) AS owed,
        (SELECT bool_or(state = 'queued') OR count(*) = 1000 FROM due) AS queued_overdue,
        (SELECT bool_or(state = 'unknown') OR count(*) = 1000 FROM due) AS unknown_due,
        (SELECT queue_empty_since <= now() - make_interval(secs => ${durations.queueEmpty}) FROM taken) AS queue_was_empty`,
    { repeatable: false },
  );
  if (!row?.run) return { taken: false, why: row?.paused ? "paused" : "held" };
  return {
    taken: true,
    run: row.run,
    owed: row.owed,
    queuedOverdue: row.queued_overdue ?? false,
    unknownDue: row.unknown_due ?? false,
    queueWasEmpty: row.queue_was_empty ?? false,
  };
}
