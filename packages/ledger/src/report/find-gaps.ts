import type { Ledger } from "../connect/ledger.ts";

export type Pause = { at: Date; by: string; why: string | null; resumedAt: Date | null };

/** A time without a sweep that worked. */
export type Gap = {
  /** When the last sweep before it ended. */
  from: Date;
  /** When the first one after it began; null: there is none yet. */
  to: Date | null;
  seconds: number;
  /** Sweeps that began in it and did not come to their end. */
  failed: number;
  /** Pauses that people made, as far as they lie in it. */
  pauses: Pause[];
};

export type Window = {
  /** RFC 3339; null: seven days ago, now. */
  since: string | null;
  until: string | null;
};

type Row = Omit<Gap, "pauses"> & {
  pauses: { at: string; by: string; why: string | null; resumedAt: string | null }[];
};

/**
 * The heartbeat's gaps of more than `gap` seconds that lie in the window, or reach into it, newest first. A sweep that
 * failed is no beat: nobody knows how much it did. One that has not beaten since is open; so is a ledger's whole life
 * while no sweep ever came to its end.
 */
export async function findGaps(
  ledger: Ledger,
  { since, until }: Window,
  { gap, most }: { gap: number; most: number },
): Promise<Gap[]> {
  const rows = await ledger.run(
    (sql) => sql<Row[]>`
      WITH given AS (
        SELECT coalesce(${since}::text::timestamptz, now() - interval '7 days') AS since,
          coalesce(${until}::text::timestamptz, now()) AS until
      ), beat AS (
        SELECT finished_at AS from_at, lead(started_at) OVER (ORDER BY started_at, id) AS to_at
        FROM owed.sweep_run, given
        WHERE finished_at IS NOT NULL
          AND started_at >= coalesce((SELECT started_at FROM owed.sweep_run
            WHERE finished_at IS NOT NULL AND started_at < since ORDER BY started_at DESC LIMIT 1), since)
          AND started_at <= coalesce((SELECT started_at FROM owed.sweep_run
            WHERE finished_at IS NOT NULL AND started_at > until ORDER BY started_at LIMIT 1), 'infinity')
        UNION ALL
        SELECT greatest(since, beating_since), NULL FROM owed.heartbeat, given
        WHERE NOT EXISTS (SELECT FROM owed.sweep_run WHERE finished_at IS NOT NULL)
      ), gap AS (
        SELECT from_at, to_at, coalesce(to_at, now()) AS until_at FROM beat, given
        WHERE coalesce(to_at, now()) - from_at > make_interval(secs => ${gap})
          AND coalesce(to_at, now()) > since AND from_at < until
        ORDER BY from_at DESC LIMIT ${most}
      )
      SELECT from_at AS "from", to_at AS "to", extract(epoch FROM until_at - from_at)::float8 AS seconds,
        (SELECT count(*)::int FROM owed.sweep_run r WHERE r.started_at > from_at AND r.started_at < until_at AND r.finished_at IS NULL
          AND r.id IS DISTINCT FROM (SELECT holder FROM owed.heartbeat WHERE held_until > now())) AS failed,
        (SELECT coalesce(json_agg(json_build_object('at', paused_at, 'by', paused_by, 'why', paused_why, 'resumedAt', resumed_at)
            ORDER BY p.id), '[]')
          FROM owed.pause p WHERE p.paused_at < until_at AND coalesce(p.resumed_at > from_at, true)) AS pauses
      FROM gap ORDER BY from_at DESC`,
    { repeatable: true },
  );
  return rows.map((row) => ({
    ...row,
    pauses: row.pauses.map(({ at, by, why, resumedAt }) => ({
      at: new Date(at),
      by,
      why,
      resumedAt: resumedAt === null ? null : new Date(resumedAt),
    })),
  }));
}
