import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";
import { type Leased, leasedOf, leaseRows } from "./lease-rows.ts";

export type { Leased } from "./lease-rows.ts";

/** How many rows of a channel a slice may take. */
export type Share = { channel: string; most: number };

/** Seconds that ingest's lease may take: one that was under way when the sweep looked may not have been seen by it. */
const slowest = 10;

export type Slice = {
  leased: Leased[];
  /** By channel: rows taken in all, whatever became of them, and those of them that were leased. Of one that got fewer than it might no more is due. */
  taken: ReadonlyMap<string, { rows: number; leased: number }>;
  cancelled: number;
  /** The lowest `owed_at` of the slice, exactly as the database has it. */
  watermark: string | null;
  /** Until when the slice is leased, exactly as the database has it: who leases another one tells so which are its own. */
  until: string | null;
};

/** Rows that were leased, or refused and waited for their next try: of their groups nothing newer goes before them. */
export type OnTheWay = {
  /** When they were looked for, exactly as the database has it. */
  at: string;
  /** Their ids. */
  rows: readonly string[];
};

export type LeaseOptions = {
  shares: readonly Share[];
  /** Start where the slice before this one started: skips the dead entries that a long transaction keeps in the index. */
  watermark: string | null;
  /**
   * Only what became owed within so many seconds, for fresh rows' share while a backlog drains; null: the oldest
   * first. A fresh row never overtakes an older one of its own group, unless the newer one replaces that.
   */
  fresh: number | null;
  /** What was on its way to the queue when the sweep began; null: not known, so it is looked for from the beginning. */
  onTheWay?: OnTheWay | null;
  /** The `until` of the sweep's own slices so far, whose rows go into the queue before those of this one. */
  own?: readonly string[];
};

/**
 * Takes a slice of what is owed, oldest first, in one statement: leases what is still true, and cancels what is not
 * (transitions 1 and 18 of docs/states.md). Rows that another sweep holds are skipped, and closed channels are left
 * alone. So is a row while one of its group that was recorded before is on its way to the queue, leased by ingest, or was
 * refused and waits for its next try: nothing overtakes it.
 */
export async function lease(ledger: Ledger, durations: Durations, options: LeaseOptions): Promise<Slice> {
  const { shares, watermark, fresh, onTheWay = null, own = [] } = options;
  const rows = await leaseRows(
    ledger,
    durations,
    (sql) => sql`
      -- Of each group the first row that is on its way, or was refused and waits for its next try: those that the sweep found
      -- when it began, and what was leased since, by ingest, in the gaps between the sweep's own slices. A long transaction
      -- keeps the entries of all that these leased; here they are not walked over. OFFSET 0: by the key, and each gap by the index of what is owed.
      waiting AS MATERIALIZED (
        SELECT waits.subscriber_id, min(waits.id::text)::uuid AS id
        FROM (
          (SELECT n.id, n.subscriber_id, n.state, n.due_at, n.owed_at, n.leased_until FROM owed.notification n
          WHERE n.id = ANY (${onTheWay?.rows ?? []}::uuid[]) OFFSET 0)
          UNION ALL
          SELECT since.* FROM unnest(${["-infinity", ...own]}::text[]::timestamptz[], ${[...own, "infinity"]}::text[]::timestamptz[]) AS gap (after, before)
          CROSS JOIN LATERAL (
            SELECT n.id, n.subscriber_id, n.state, n.due_at, n.owed_at, n.leased_until FROM owed.notification n
            WHERE n.owed_at > greatest(gap.after, now(), ${onTheWay?.at ?? "-infinity"}::text::timestamptz + make_interval(secs => ${durations.lease - slowest}))
              AND n.owed_at < gap.before AND n.owed_at <= now() + make_interval(secs => ${durations.lease})
            OFFSET 0) AS since) AS waits
        WHERE waits.state IN ('pending', 'leased') AND waits.due_at <= now() AND waits.owed_at > now()
          AND (waits.state = 'pending' OR waits.leased_until <> ALL (${own}::text[]::timestamptz[]))
        GROUP BY waits.subscriber_id
      ), due AS MATERIALIZED (
        SELECT slice.*
        FROM unnest(${shares.map((share) => share.channel)}::text[], ${shares.map((share) => share.most)}::int[]) AS share (channel, most)
        JOIN owed.channel c ON c.name = share.channel AND coalesce(c.closed_until <= now(), true)
        CROSS JOIN LATERAL (
          SELECT n.id, n.owed_at
          FROM owed.notification n
          WHERE n.state IN ('pending', 'leased') AND n.channel = share.channel AND n.owed_at <= now()
            AND n.owed_at >= ${watermark ?? "-infinity"}::text::timestamptz
            ${
              fresh === null
                ? sql``
                : sql`AND n.owed_at > now() - make_interval(secs => ${fresh}) AND NOT EXISTS (
              -- LATERAL and OFFSET 0, as in owed.telling: a short range of the primary key for each older event.
              SELECT FROM owed.event own
              JOIN owed.event older ON older.shipment_id = own.shipment_id AND (older.occurred_at, older.id) < (own.occurred_at, own.id)
              CROSS JOIN LATERAL (
                SELECT FROM owed.notification waits JOIN owed.rule r ON r.id = waits.rule_id
                WHERE waits.id > older.key AND waits.id <= owed.notification_id(older.key, 65535)
                  AND waits.subscriber_id = n.subscriber_id AND waits.state IN ('pending', 'leased') AND coalesce(waits.owed_at, 'infinity') <= now()
                  AND NOT r.newest_replaces
                OFFSET 0) AS overtaken
              WHERE own.key = n.event_key)`
            }
            AND NOT EXISTS (SELECT FROM waiting WHERE waiting.subscriber_id = n.subscriber_id AND waiting.id < n.id)
          ORDER BY n.owed_at, n.id
          LIMIT share.most
          FOR UPDATE OF n SKIP LOCKED
        ) AS slice
      )`,
  );
  const leased = leasedOf(rows);
  return {
    leased,
    taken: new Map(
      [...Map.groupBy(rows, (row) => row.channel)].map(([channel, of]) => [
        channel,
        { rows: of.length, leased: of.filter((row) => row.did === "lease").length },
      ]),
    ),
    cancelled: rows.length - leased.length,
    watermark: rows[0]?.was ?? null,
    until: rows.find((row) => row.did === "lease")?.until ?? null,
  };
}
