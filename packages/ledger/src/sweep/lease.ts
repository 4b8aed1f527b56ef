import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";
import { hasOlder, type Leased, leasedOf, leaseRows } from "./lease-rows.ts";

export type { Leased } from "./lease-rows.ts";

/** How many rows of a channel a slice may take. */
export type Share = { channel: string; most: number };

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

export type LeaseOptions = {
  shares: readonly Share[];
  /** Start where the slice before this one started: skips the dead entries that a long transaction keeps in the index. */
  watermark: string | null;
  /**
   * Only what became owed within so many seconds, for fresh rows' share while a backlog drains; null: the oldest
   * first. A fresh row never overtakes an older one of its own group, unless the newer one replaces that.
   */
  fresh: number | null;
  /** The `until` of slices whose rows go into the queue before those of this one. */
  before?: readonly string[];
};

/**
 * Takes a slice of what is owed, oldest first, in one statement: leases what is still true, and cancels what is not
 * (transitions 1 and 18 of docs/states.md). Rows that another sweep holds are skipped, and closed channels are left
 * alone. So is a row while an older one of its group is leased by somebody else: ingest leases what it has just
 * recorded, so only rows recorded, or owed, since such a lease began need that look, and a backlog's cost nothing more.
 */
export async function lease(ledger: Ledger, durations: Durations, options: LeaseOptions): Promise<Slice> {
  const { shares, watermark, fresh, before = [] } = options;
  const rows = await leaseRows(
    ledger,
    durations,
    (sql) => sql`
      since AS MATERIALIZED (
        -- The first 48 bits of an id are the millisecond at which its event was recorded.
        SELECT at, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid AS id
        FROM (SELECT now() - make_interval(secs => ${durations.lease})) AS lease (at)
      ), due AS MATERIALIZED (
        SELECT slice.*
        FROM unnest(${shares.map((share) => share.channel)}::text[], ${shares.map((share) => share.most)}::int[]) AS share (channel, most)
        JOIN owed.channel c ON c.name = share.channel AND coalesce(c.closed_until <= now(), true)
        CROSS JOIN since
        CROSS JOIN LATERAL (
          SELECT n.id, n.owed_at
          FROM owed.notification n
          WHERE n.state IN ('pending', 'leased') AND n.channel = share.channel AND n.owed_at <= now()
            AND n.owed_at >= ${watermark ?? "-infinity"}::text::timestamptz
            ${
              fresh === null
                ? sql``
                : sql`AND n.owed_at > now() - make_interval(secs => ${fresh}) AND NOT EXISTS (
              -- LATERAL and OFFSET 0, as in owed.moot: a short range of the primary key for each older event.
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
            AND CASE WHEN n.owed_at > since.at OR n.id > since.id THEN NOT ${hasOlder(
              sql,
              sql`waits.state = 'leased' AND coalesce(waits.owed_at > now(), false) AND waits.leased_until <> ALL (${before}::text[]::timestamptz[])`,
            )} ELSE true END
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
