import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";

export type Looked = {
  /** Rows looked at in all: none means that no more wait for a look. */
  taken: number;
  rescued: number;
  unknown: number;
  resent: number;
  held: number;
  /** Rescued three times in vain: dead. */
  lost: number;
};

export type LookOptions = {
  limit: number;
  /** What the queue proves about rows queued for long: their message is gone, or nothing; `skip` leaves them for the next sweep. */
  queued: "lost" | "look" | "skip";
  /** Unknown rows whose grace has passed wait while the provider's events are backed up. */
  unknown: "look" | "skip";
};

type Did = "unknown" | "resend" | "hold" | "rescue" | "lose" | "wait";

/**
 * Looks again at rows that were queued for long, whose worker vanished, or whose outcome stayed unknown, and moves
 * each by its state: transitions 13 to 17 of docs/states.md. Rows that somebody holds are skipped.
 */
export async function lookAgain(ledger: Ledger, durations: Durations, options: LookOptions): Promise<Looked> {
  const rows = await ledger.run(
    (sql) => sql<{ did: Did }[]>`
      WITH due AS MATERIALIZED (
        SELECT id, state, owed_at, queued_at, rescues, resends, rule_id
        FROM owed.notification
        WHERE owed_at <= now() AND state IN ('queued', 'sending', 'unknown')
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
        SELECT id,
          CASE state
            WHEN 'sending' THEN 'unknown'
            WHEN 'unknown' THEN CASE
              WHEN resends = 3 OR (SELECT on_unknown FROM owed.rule WHERE rule.id = due.rule_id) = 'hold' THEN 'hold'
              ELSE 'resend' END
            ELSE CASE
              WHEN NOT (${options.queued === "lost"} OR coalesce((SELECT queued_at FROM passed) >= due.queued_at + interval '1 minute', false)) THEN 'wait'
              WHEN rescues = 3 THEN 'lose'
              ELSE 'rescue' END
          END AS did
        FROM due
      ), moved AS (
        UPDATE owed.notification n SET
          state = CASE did WHEN 'unknown' THEN 'unknown' WHEN 'hold' THEN 'unknown' WHEN 'lose' THEN 'dead'
            WHEN 'wait' THEN 'queued' ELSE 'pending' END,
          owed_at = CASE did WHEN 'unknown' THEN owed.evidence_until(n.channel, ${durations.grace})
            WHEN 'wait' THEN now() + make_interval(secs => ${durations.lostAfter})
            WHEN 'resend' THEN now() WHEN 'rescue' THEN now() END,
          generation = n.generation + CASE WHEN did IN ('resend', 'rescue') THEN 1 ELSE 0 END,
          resends = n.resends + CASE did WHEN 'resend' THEN 1 ELSE 0 END,
          rescues = n.rescues + CASE did WHEN 'rescue' THEN 1 ELSE 0 END,
          stopped_at = CASE WHEN did IN ('hold', 'lose') THEN now() END,
          reason = CASE did WHEN 'unknown' THEN 'no_outcome: the worker vanished before it recorded one'
            WHEN 'lose' THEN 'lost: queued four times, and no worker ever received it'
            ELSE n.reason END
        FROM judged WHERE n.id = judged.id
        RETURNING n.id, did, n.generation, n.reason
      ), told AS (
        INSERT INTO owed.attempt (notification_id, kind, generation, reason)
        SELECT id, CASE did WHEN 'unknown' THEN 'unknown' WHEN 'resend' THEN 'resent' WHEN 'hold' THEN 'held'
            WHEN 'rescue' THEN 'rescued' WHEN 'lose' THEN 'lost' END, generation,
          CASE did WHEN 'resend' THEN 'possible duplicate: the grace passed without evidence'
            WHEN 'rescue' THEN 'its message was lost' ELSE reason END
        FROM moved WHERE did <> 'wait'
      )
      SELECT did FROM moved`,
    // Answer lost: the rows have been moved on, and are not due any more.
    { repeatable: true },
  );
  const count = (did: Did) => rows.reduce((sum, row) => sum + (row.did === did ? 1 : 0), 0);
  return {
    taken: rows.length,
    rescued: count("rescue"),
    unknown: count("unknown"),
    resent: count("resend"),
    held: count("hold"),
    lost: count("lose"),
  };
}
