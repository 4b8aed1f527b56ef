import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";

/** A row leased to this sweep: the token fences every later write to it. */
export type Leased = { id: string; generation: number; token: number; group: string };

/** How many rows of a channel a slice may take. */
export type Share = { channel: string; most: number };

export type Slice = {
  leased: Leased[];
  /** By channel: rows taken in all, whatever became of them, and those of them that were leased. Of one that got fewer than it might no more is due. */
  taken: ReadonlyMap<string, { rows: number; leased: number }>;
  cancelled: number;
  /** The lowest `owed_at` of the slice, exactly as the database has it. */
  watermark: string | null;
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
};

type Row = {
  id: string;
  did: "lease" | "cancel";
  generation: number;
  token: number;
  subscriber_id: string;
  channel: string;
  was: string;
};

/**
 * Takes a slice of what is owed, oldest first, in one statement: leases what is still true, and cancels what is not
 * (transitions 1 and 18 of docs/states.md). Rows that another sweep holds are skipped, and closed channels are left
 * alone. The shares are exact under every plan, since the slice is materialised before anything joins it.
 */
export async function lease(ledger: Ledger, durations: Durations, options: LeaseOptions): Promise<Slice> {
  const { shares, watermark, fresh } = options;
  const rows = await ledger.run(
    (sql) => sql<Row[]>`
      WITH due AS MATERIALIZED (
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
              -- LATERAL and OFFSET 0, as in owed.moot: a short range of the primary key for each older event.
              SELECT FROM owed.event own
              JOIN owed.event older ON older.shipment_id = own.shipment_id AND (older.occurred_at, older.id) < (own.occurred_at, own.id)
              CROSS JOIN LATERAL (
                SELECT FROM owed.notification waits JOIN owed.rule r ON r.id = waits.rule_id
                WHERE waits.id > older.key AND waits.id <= owed.notification_id(older.key, 65535)
                  AND waits.subscriber_id = n.subscriber_id AND waits.state IN ('pending', 'leased') AND waits.owed_at <= now()
                  AND NOT r.newest_replaces
                OFFSET 0) AS overtaken
              WHERE own.key = n.event_key)`
            }
          ORDER BY n.owed_at, n.id
          LIMIT share.most
          FOR UPDATE OF n SKIP LOCKED
        ) AS slice
      ), judged AS MATERIALIZED (
        SELECT due.id, due.owed_at, moot.reason, moot.by
        FROM due LEFT JOIN LATERAL (SELECT still.reason, still.by FROM owed.moot AS still WHERE still.id = due.id OFFSET 0) AS moot ON true
      ), moved AS (
        UPDATE owed.notification n SET
          state = CASE WHEN judged.reason IS NULL THEN 'leased' ELSE 'cancelled' END,
          owed_at = CASE WHEN judged.reason IS NULL THEN now() + make_interval(secs => ${durations.lease}) END,
          leased_until = CASE WHEN judged.reason IS NULL THEN now() + make_interval(secs => ${durations.lease}) ELSE n.leased_until END,
          lease_token = n.lease_token + CASE WHEN judged.reason IS NULL THEN 1 ELSE 0 END,
          cancelled_at = CASE WHEN judged.reason IS NOT NULL THEN now() END,
          cancelled_by = judged.by,
          reason = coalesce(judged.reason, n.reason)
        FROM judged WHERE n.id = judged.id
        RETURNING n.id, CASE WHEN judged.reason IS NULL THEN 'lease' ELSE 'cancel' END AS did, n.generation, n.lease_token,
          n.subscriber_id, n.channel, judged.owed_at
      )
      SELECT id, did, generation, lease_token AS token, subscriber_id, channel, owed_at::text AS was
      FROM moved ORDER BY owed_at, id`,
    // Answer lost: the slice's leases run out by themselves, and another slice is as good.
    { repeatable: true },
  );
  const leased = rows.filter((row) => row.did === "lease");
  return {
    leased: leased.map(({ id, generation, token, subscriber_id }) => ({
      id,
      generation,
      token,
      group: subscriber_id,
    })),
    taken: new Map(
      [...Map.groupBy(rows, (row) => row.channel)].map(([channel, of]) => [
        channel,
        { rows: of.length, leased: of.filter((row) => row.did === "lease").length },
      ]),
    ),
    cancelled: rows.length - leased.length,
    watermark: rows[0]?.was ?? null,
  };
}
