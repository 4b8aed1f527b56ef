import type { Ledger } from "../connect/ledger.ts";
import type { State } from "../states.ts";
import type { Gap } from "./find-gaps.ts";

/** How late: seconds from when it was due to when it was sent. Null where nothing was sent. */
export type Lateness = { p50: number | null; p95: number | null; max: number | null };

/** What became of notifications. All but the last four are ways to end, each counted once. */
export type Fates = {
  due: number;
  sent: number;
  expired: number;
  superseded: number;
  optedOut: number;
  suppressed: number;
  erased: number;
  /** Cancelled by people. */
  cancelled: number;
  dead: number;
  /** Not ended: due and not sent, on its way, or of an outcome that nobody knows. */
  stillOwed: number;
  late: Lateness;
  /** Sent more than a minute late. */
  lateByMinutes: number;
  /** Of an outcome that was not known at some time. */
  unknown: number;
  /** Resends that may be duplicates, and certain duplicates. */
  perhapsTwice: number;
  twice: number;
};

export type StillOwed = { id: string; channel: string; state: State; dueAt: Date; reason: string | null };

/** From `at` on, until the next point: what fell due and was sent, and what was owed at its end. */
export type Point = { at: Date; owed: number; due: number; sent: number };

/** What fell due in a gap, or waited when it began, and what has become of it by now. */
export type Counted = {
  all: Fates;
  channels: (Fates & { channel: string })[];
  /** Why the dead ones died, by the first word of their reasons. */
  deadFor: { reason: string; rows: number }[];
  /** The first hundred. */
  stillOwed: StillOwed[];
  /** Rows that the old sender is to send: counted apart, and nowhere else. */
  oldSender: { due: number; sent: number; cancelled: number; dead: number; waiting: number };
  /** When the last of those that were sent was. */
  recoveredAt: Date | null;
  /** Seconds from the end of the gap until then, and no less than 0; null while it is open, or when nothing was sent. */
  recovery: number | null;
  series: { step: number; points: Point[] };
};

type Row = {
  fates: (Fates & { channel: string | null })[];
  deadFor: Counted["deadFor"];
  stillOwed: (Omit<StillOwed, "dueAt"> & { dueAt: string })[];
  oldSender: Counted["oldSender"];
  recoveredAt: Date | null;
  recovery: number | null;
  step: number;
  points: (Omit<Point, "at"> & { at: string })[];
};

/**
 * Counts what fell due in a gap, or was due and not ended when it began, by what has become of it. What waited when it
 * began was due within the two hours before, or as long before as the last sweep said, or is still owed. The series
 * goes on until the last one ended, but not for longer after the gap than it lasted (or an hour); its points are a
 * minute or more apart, a thousand at most. Found by `due_at`, here and in the archive.
 */
export async function countGap(
  ledger: Ledger,
  { from, to }: Pick<Gap, "from" | "to">,
  merchant: string | null,
): Promise<Counted> {
  const [row] = await ledger.run(
    (sql) => sql<Row[]>`
      WITH gap AS MATERIALIZED (
        SELECT ${from}::timestamptz AS from_at, coalesce(${to}::timestamptz, now()) AS to_at,
          ${from}::timestamptz - make_interval(secs => greatest(7200, (
            SELECT oldest_owed_s FROM owed.sweep_run WHERE started_at <= ${from}::timestamptz AND finished_at IS NOT NULL
            ORDER BY started_at DESC LIMIT 1))) AS earliest
      ), found AS (
        SELECT n.* FROM owed.notification_ever n
        WHERE n.due_at >= (SELECT earliest FROM gap) AND n.due_at < (SELECT to_at FROM gap)
        UNION ALL
        SELECT n.* FROM owed.notification n
        WHERE n.owed_at <= now() + interval '1 day' AND n.due_at < (SELECT earliest FROM gap)
        UNION ALL
        -- OFFSET 0: by the small index of those that stopped, whatever the planner thinks of the times.
        SELECT n.* FROM (SELECT * FROM owed.notification WHERE stopped_at IS NOT NULL AND state = 'unknown' OFFSET 0) AS n
        WHERE n.stopped_at >= (SELECT from_at FROM gap) AND n.due_at < (SELECT earliest FROM gap)
      ), chosen AS MATERIALIZED (
        SELECT n.id, n.channel, n.due_at, n.state, n.reason, n.mode, n.delivered_at,
          CASE WHEN n.state IN ('delivered', 'cancelled', 'dead') THEN coalesce(n.delivered_at, n.cancelled_at, n.stopped_at) END AS ended_at
        FROM found n, gap
        WHERE coalesce(n.delivered_at, n.cancelled_at, n.stopped_at, 'infinity') >= gap.from_at
          AND (${merchant}::text IS NULL OR EXISTS (SELECT FROM owed.event e JOIN owed.shipment sh ON sh.id = e.shipment_id
            WHERE e.key = n.event_key AND sh.merchant_id = ${merchant}::text))
      ), ours AS MATERIALIZED (
        SELECT * FROM chosen WHERE mode IS NULL
      ), tried AS (
        SELECT a.notification_id AS id, bool_or(a.kind = 'unknown') AS unknown, count(*) FILTER (WHERE a.kind = 'resent') AS resent,
          count(*) FILTER (WHERE a.kind = 'duplicate') AS twice
        FROM ours JOIN owed.attempt a ON a.notification_id = ours.id
        WHERE a.kind IN ('unknown', 'resent', 'duplicate') GROUP BY 1
      ), told AS (
        SELECT ours.*, tried.unknown, tried.resent, tried.twice, CASE WHEN ours.delivered_at IS NOT NULL
            THEN greatest(0, extract(epoch FROM ours.delivered_at - ours.due_at))::float8 END AS late
        FROM ours LEFT JOIN tried USING (id)
      ), fates AS (
        SELECT channel, count(*)::int AS due,
          count(*) FILTER (WHERE state = 'delivered')::int AS sent,
          count(*) FILTER (WHERE state = 'cancelled' AND reason = 'expired')::int AS expired,
          count(*) FILTER (WHERE state = 'cancelled' AND reason = 'superseded')::int AS superseded,
          count(*) FILTER (WHERE state = 'cancelled' AND reason = 'opted_out')::int AS "optedOut",
          count(*) FILTER (WHERE state = 'cancelled' AND reason = 'suppressed')::int AS suppressed,
          count(*) FILTER (WHERE state = 'cancelled' AND reason = 'erased')::int AS erased,
          count(*) FILTER (WHERE state = 'cancelled' AND starts_with(reason, 'cancelled: '))::int AS cancelled,
          count(*) FILTER (WHERE state = 'dead')::int AS dead,
          count(*) FILTER (WHERE state IN ('pending', 'leased', 'queued', 'sending', 'unknown'))::int AS "stillOwed",
          json_build_object('p50', percentile_cont(0.5) WITHIN GROUP (ORDER BY late), 'p95', percentile_cont(0.95) WITHIN GROUP (ORDER BY late),
            'max', max(late)) AS late,
          count(*) FILTER (WHERE late > 60)::int AS "lateByMinutes",
          count(*) FILTER (WHERE unknown)::int AS unknown,
          coalesce(sum(resent), 0)::int AS "perhapsTwice", coalesce(sum(twice), 0)::int AS twice
        FROM told GROUP BY GROUPING SETS ((channel), ())
      ), recovered AS (
        SELECT max(delivered_at) AS at, greatest(max(ended_at), (SELECT to_at FROM gap)) AS ended FROM ours
      ), span AS (
        SELECT from_at, least(ended, to_at + greatest(to_at - from_at, interval '1 hour'), now()) AS until_at FROM gap, recovered
      ), stepped AS (
        SELECT *, (60 * greatest(1, ceil(extract(epoch FROM until_at - from_at) / 60 / 1000)))::int AS step FROM span
      ), place AS (
        SELECT floor(extract(epoch FROM greatest(due_at, from_at) - from_at) / step)::int AS due,
          floor(extract(epoch FROM delivered_at - from_at) / step)::int AS sent,
          floor(extract(epoch FROM greatest(ended_at, due_at) - from_at) / step)::int AS ended
        FROM ours, stepped
      ), moment AS (
        SELECT due AS place, count(*) AS due, 0 AS sent, 0 AS ended FROM place GROUP BY 1
        UNION ALL SELECT sent, 0, count(*), 0 FROM place WHERE sent IS NOT NULL GROUP BY 1
        UNION ALL SELECT ended, 0, 0, count(*) FROM place WHERE ended IS NOT NULL GROUP BY 1
      ), point AS (
        SELECT at.place, from_at + at.place * step * interval '1 second' AS at, coalesce(sum(due), 0)::int AS due,
          coalesce(sum(sent), 0)::int AS sent,
          (sum(coalesce(sum(due), 0) - coalesce(sum(ended), 0)) OVER (ORDER BY at.place))::int AS owed
        FROM stepped CROSS JOIN LATERAL generate_series(0, floor(extract(epoch FROM until_at - from_at) / step)::int) AS at (place)
        LEFT JOIN moment ON moment.place = at.place
        GROUP BY at.place, from_at, step
      )
      SELECT (SELECT json_agg(fates ORDER BY channel NULLS FIRST) FROM fates) AS fates,
        (SELECT coalesce(json_agg(json_build_object('reason', reason, 'rows', rows) ORDER BY rows DESC, reason), '[]') FROM (
          SELECT split_part(reason, ':', 1) AS reason, count(*) AS rows FROM ours WHERE state = 'dead' GROUP BY 1) AS died) AS "deadFor",
        (SELECT coalesce(json_agg(json_build_object('id', id, 'channel', channel, 'state', state, 'dueAt', due_at, 'reason', reason)
            ORDER BY due_at, id), '[]')
          FROM (SELECT * FROM ours WHERE ended_at IS NULL ORDER BY due_at, id LIMIT 100) AS open) AS "stillOwed",
        (SELECT json_build_object('due', count(*), 'sent', count(*) FILTER (WHERE state = 'delivered'),
            'cancelled', count(*) FILTER (WHERE state = 'cancelled'), 'dead', count(*) FILTER (WHERE state = 'dead'),
            'waiting', count(*) FILTER (WHERE ended_at IS NULL)) FROM chosen WHERE mode IS NOT NULL) AS "oldSender",
        (SELECT at FROM recovered) AS "recoveredAt",
        (SELECT CASE WHEN at IS NOT NULL AND ${to}::timestamptz IS NOT NULL
          THEN greatest(0, extract(epoch FROM at - ${to}::timestamptz))::float8 END FROM recovered) AS recovery,
        (SELECT step FROM stepped) AS step,
        (SELECT json_agg(json_build_object('at', at, 'owed', owed, 'due', due, 'sent', sent) ORDER BY place) FROM point) AS points`,
    { repeatable: true },
  );
  const all = row?.fates.find(({ channel }) => channel === null);
  if (!row || !all) throw new Error("the ledger did not say what fell due");
  return {
    all: withoutChannel(all),
    channels: row.fates.flatMap((fates) =>
      fates.channel === null ? [] : [{ ...fates, channel: fates.channel }],
    ),
    deadFor: row.deadFor,
    stillOwed: row.stillOwed.map((open) => ({ ...open, dueAt: new Date(open.dueAt) })),
    oldSender: row.oldSender,
    recoveredAt: row.recoveredAt,
    recovery: row.recovery,
    series: { step: row.step, points: row.points.map((point) => ({ ...point, at: new Date(point.at) })) },
  };
}

const withoutChannel = ({ channel: _, ...fates }: Fates & { channel: string | null }): Fates => fates;
