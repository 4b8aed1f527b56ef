import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";

/** A row leased to this sweep: the token fences every later write to it. */
export type Leased = { id: string; generation: number; token: number; group: string };

export type Slice = {
  leased: Leased[];
  /** Rows taken in all, whatever became of them: an empty slice means that nothing more is owed. */
  taken: number;
  cancelled: number;
  rescued: number;
  unknown: number;
  resent: number;
  held: number;
  /** Rescued three times in vain: dead. */
  lost: number;
  /** The lowest `owed_at` of the slice, exactly as the database has it. */
  watermark: string | null;
};

export type LeaseOptions = {
  limit: number;
  /** Start where the slice before this one started: skips the dead entries that a long transaction keeps in the index. */
  watermark: string | null;
  /** What the queue proves about rows queued for long: their message is gone, or nothing; `skip` leaves them for the next sweep. */
  queued: "lost" | "look" | "skip";
  /** Unknown rows whose grace has passed wait while the provider's events are backed up. */
  unknown: "look" | "skip";
};

type Row = {
  id: string;
  did: "lease" | "cancel" | "unknown" | "resend" | "hold" | "rescue" | "lose" | "wait";
  generation: number;
  token: number;
  subscriber_id: string;
  was: string;
};

/**
 * Takes a slice of what is owed, oldest first, in one statement, and moves each row by its state: transitions
 * 1, 13, 14, 15, 16, 17 and 18 of docs/states.md. Rows that another sweep holds are skipped. The limit is exact
 * under every plan, since the slice is materialised before anything joins it.
 */
export async function lease(ledger: Ledger, durations: Durations, options: LeaseOptions): Promise<Slice> {
  const rows = await ledger.run(
    (sql) => sql<Row[]>`
      WITH due AS MATERIALIZED (
        SELECT id, state, owed_at, queued_at, rescues, resends, rule_id
        FROM owed.notification
        WHERE owed_at <= now() AND owed_at >= ${options.watermark ?? "-infinity"}::text::timestamptz
          AND (${options.queued !== "skip"} OR state <> 'queued')
          AND (${options.unknown !== "skip"} OR state <> 'unknown')
        ORDER BY owed_at, id
        LIMIT ${options.limit}
        FOR UPDATE SKIP LOCKED
      ), passed AS (
        -- A message queued at this time was claimed long ago: what was queued a minute before it is lost.
        SELECT max(queued_at) AS queued_at FROM owed.claim_mark
        WHERE minute <= now() - make_interval(secs => ${durations.lostAfter + 60})
          AND minute > now() - interval '15 days'
      ), judged AS MATERIALIZED (
        SELECT due.id, due.owed_at, moot.reason,
          CASE due.state
            WHEN 'sending' THEN 'unknown'
            WHEN 'unknown' THEN CASE
              WHEN due.resends = 3 OR (SELECT on_unknown FROM owed.rule WHERE rule.id = due.rule_id) = 'hold' THEN 'hold'
              ELSE 'resend' END
            WHEN 'queued' THEN CASE
              WHEN NOT (${options.queued === "lost"} OR coalesce((SELECT queued_at FROM passed) >= due.queued_at + interval '1 minute', false)) THEN 'wait'
              WHEN due.rescues = 3 THEN 'lose'
              ELSE 'rescue' END
            ELSE CASE WHEN moot.reason IS NULL THEN 'lease' ELSE 'cancel' END
          END AS did
        FROM due LEFT JOIN LATERAL (
          SELECT still.reason FROM owed.moot AS still WHERE still.id = due.id AND due.state IN ('pending', 'leased') OFFSET 0
        ) AS moot ON true
      ), moved AS (
        UPDATE owed.notification n SET
          state = CASE did WHEN 'lease' THEN 'leased' WHEN 'cancel' THEN 'cancelled' WHEN 'unknown' THEN 'unknown'
            WHEN 'hold' THEN 'unknown' WHEN 'lose' THEN 'dead' WHEN 'wait' THEN 'queued' ELSE 'pending' END,
          owed_at = CASE did WHEN 'lease' THEN now() + make_interval(secs => ${durations.lease})
            WHEN 'unknown' THEN now() + make_interval(secs => ${durations.grace})
            WHEN 'wait' THEN now() + make_interval(secs => ${durations.lostAfter})
            WHEN 'resend' THEN now() WHEN 'rescue' THEN now() END,
          leased_until = CASE did WHEN 'lease' THEN now() + make_interval(secs => ${durations.lease}) ELSE n.leased_until END,
          lease_token = n.lease_token + CASE did WHEN 'lease' THEN 1 ELSE 0 END,
          generation = n.generation + CASE WHEN did IN ('resend', 'rescue') THEN 1 ELSE 0 END,
          resends = n.resends + CASE did WHEN 'resend' THEN 1 ELSE 0 END,
          rescues = n.rescues + CASE did WHEN 'rescue' THEN 1 ELSE 0 END,
          stopped_at = CASE WHEN did IN ('hold', 'lose') THEN now() END,
          cancelled_at = CASE did WHEN 'cancel' THEN now() END,
          reason = CASE did WHEN 'cancel' THEN judged.reason
            WHEN 'unknown' THEN 'no_outcome: the worker vanished before it recorded one'
            WHEN 'lose' THEN 'lost: queued four times, and no worker ever received it'
            ELSE n.reason END
        FROM judged WHERE n.id = judged.id
        RETURNING n.id, judged.did, n.generation, n.lease_token, n.subscriber_id, judged.owed_at, n.reason
      ), told AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, reason)
        SELECT id, CASE did WHEN 'unknown' THEN 'unknown' WHEN 'resend' THEN 'resent' WHEN 'hold' THEN 'held'
            WHEN 'rescue' THEN 'rescued' WHEN 'lose' THEN 'lost' END, generation,
          CASE did WHEN 'resend' THEN 'possible duplicate: the grace passed without evidence'
            WHEN 'rescue' THEN 'its message was lost' ELSE reason END
        FROM moved WHERE did IN ('unknown', 'resend', 'hold', 'rescue', 'lose')
      )
      SELECT id, did, generation, lease_token AS token, subscriber_id, owed_at::text AS was
      FROM moved ORDER BY owed_at, id`,
    // Answer lost: the slice's leases run out by themselves, and another slice is as good.
    { repeatable: true },
  );
  const count = (did: Row["did"]) => rows.reduce((sum, row) => sum + (row.did === did ? 1 : 0), 0);
  return {
    leased: rows
      .filter((row) => row.did === "lease")
      .map((row) => ({ id: row.id, generation: row.generation, token: row.token, group: row.subscriber_id })),
    taken: rows.length,
    cancelled: count("cancel"),
    rescued: count("rescue"),
    unknown: count("unknown"),
    resent: count("resend"),
    held: count("hold"),
    lost: count("lose"),
    watermark: rows[0]?.was ?? null,
  };
}
