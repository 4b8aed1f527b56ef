import type { Ledger } from "../connect/ledger.ts";
import type { Point } from "../report/count-gap.ts";

/** A point of a course; `late`: owed for more than a minute at that point. */
export type CoursePoint = Point & { late: number };

/** Points `step` seconds apart, the oldest first; the last one ends now. */
export type Course = { step: number; points: CoursePoint[] };

/** Points at most. */
const most = 1000;

type Row = { points: (Omit<CoursePoint, "at"> & { at: string })[] };

/**
 * How it went in the last `seconds`: from each multiple of `step` seconds to the next, what fell due and what was sent;
 * at its end, what was owed (due and not ended, on its way too), and what of it for more than a minute. What ended
 * unsent before it fell due was never owed; what the old sender has is not Owed's. The step is widened where there would
 * be more than a thousand points. It reads what fell due in that time and in the two hours before, or since what the
 * last sweep before left behind, two days before at most; and what is still owed, however old.
 */
export async function readCourse(ledger: Ledger, asked: { seconds: number; step: number }): Promise<Course> {
  const step = asked.step * Math.max(1, Math.ceil(asked.seconds / asked.step / (most - 1)));
  const [row] = await ledger.run(
    (sql) => sql<Row[]>`
      WITH course AS MATERIALIZED (
        SELECT to_timestamp(floor(extract(epoch FROM now() - make_interval(secs => ${asked.seconds})) / ${step}::int) * ${step}::int) AS from_at
      ), span AS MATERIALIZED (
        SELECT from_at, greatest(from_at - interval '2 days', least(from_at - interval '2 hours', (
            SELECT started_at - make_interval(secs => oldest_owed_s) FROM owed.sweep_run
            WHERE started_at <= from_at AND finished_at IS NOT NULL ORDER BY started_at DESC LIMIT 1))) AS earliest
        FROM course
      ), found AS (
        SELECT due_at, delivered_at, cancelled_at, stopped_at, state, mode FROM owed.notification
        WHERE due_at >= (SELECT earliest FROM span) AND due_at < now()
        UNION ALL
        -- Nothing that ended within the last fourteen days is in the archive.
        SELECT due_at, delivered_at, cancelled_at, stopped_at, state, mode FROM owed.notification_archive
        WHERE (SELECT from_at < now() - interval '14 days' FROM span)
          AND due_at >= (SELECT earliest FROM span) AND due_at < now()
        UNION ALL
        SELECT due_at, delivered_at, cancelled_at, stopped_at, state, mode FROM owed.notification
        WHERE owed_at <= now() + interval '1 day' AND due_at < (SELECT earliest FROM span)
        UNION ALL
        -- OFFSET 0: by the small index of those that stopped, whatever the planner thinks of the times.
        SELECT * FROM (
          SELECT due_at, delivered_at, cancelled_at, stopped_at, state, mode FROM owed.notification
          WHERE stopped_at IS NOT NULL AND state = 'unknown' OFFSET 0) AS held
        WHERE due_at < (SELECT earliest FROM span)
      ), ours AS MATERIALIZED (
        SELECT due_at, delivered_at, from_at,
          CASE WHEN state IN ('delivered', 'cancelled', 'dead') THEN greatest(coalesce(delivered_at, cancelled_at, stopped_at), due_at) END AS ended_at
        FROM found, span
        WHERE mode IS NULL
          AND NOT (state IN ('cancelled', 'dead') AND coalesce(cancelled_at, stopped_at) < due_at)
          AND (state NOT IN ('delivered', 'cancelled', 'dead') OR coalesce(delivered_at, cancelled_at, stopped_at) >= from_at)
      ), place AS (
        -- date_part, not extract, which counts in decimals. What was due before counts at the first point's beginning.
        SELECT due_at >= from_at AS fresh,
          floor(date_part('epoch', greatest(due_at, from_at) - from_at) / ${step}::int)::int AS due,
          floor(date_part('epoch', delivered_at - from_at) / ${step}::int)::int AS sent,
          floor(date_part('epoch', ended_at - from_at) / ${step}::int)::int AS ended,
          CASE WHEN due_at + interval '1 minute' < coalesce(ended_at, now())
            THEN floor(date_part('epoch', greatest(due_at + interval '1 minute', from_at) - from_at) / ${step}::int)::int END AS late
        FROM ours
      ), moment AS (
        SELECT due AS place, count(*) FILTER (WHERE fresh) AS due, 0 AS sent, count(*) AS owed, 0 AS late FROM place GROUP BY 1
        UNION ALL SELECT sent, 0, count(*), 0, 0 FROM place WHERE sent IS NOT NULL GROUP BY 1
        UNION ALL SELECT ended, 0, 0, -count(*), -count(late) FROM place WHERE ended IS NOT NULL GROUP BY 1
        UNION ALL SELECT late, 0, 0, 0, count(*) FROM place WHERE late IS NOT NULL GROUP BY 1
      ), point AS (
        SELECT at.place, from_at + at.place * ${step}::int * interval '1 second' AS at,
          coalesce(sum(due), 0)::int AS due, coalesce(sum(sent), 0)::int AS sent,
          (sum(coalesce(sum(owed), 0)) OVER (ORDER BY at.place))::int AS owed,
          (sum(coalesce(sum(late), 0)) OVER (ORDER BY at.place))::int AS late
        FROM span CROSS JOIN LATERAL generate_series(0, floor(extract(epoch FROM now() - from_at) / ${step}::int)::int) AS at (place)
        LEFT JOIN moment ON moment.place = at.place
        GROUP BY at.place, from_at
      )
      SELECT json_agg(json_build_object('at', at, 'owed', owed, 'due', due, 'sent', sent, 'late', late) ORDER BY place) AS points
      FROM point`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger did not say how it went");
  return { step, points: row.points.map((point) => ({ ...point, at: new Date(point.at) })) };
}
