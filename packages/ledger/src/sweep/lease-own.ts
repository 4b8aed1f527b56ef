import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";
import { type Leased, leasedOf, leaseRows } from "./lease-rows.ts";

export type LeaseOwnOptions = {
  /** The ids of events that were recorded just now, by who asks. */
  events: readonly string[];
  /** Seconds from one beat of the schedule to the next. */
  every: number;
  /** Rows in the queue at most of a channel whose provider's rate is not known. */
  queued: number;
};

/** Rows at the old end of what is owed among which a channel's backlog is looked for. */
const looked = 1000;

/**
 * Leases those rows of events just recorded that are due and may go into the queue before the next sweep; what is no
 * longer true is cancelled (transitions 1 and 18 of docs/states.md). In one statement, by the database's clock:
 * - nothing while the sweeps are paused, or have not beaten for two beats;
 * - of a channel nothing while it is closed or probed, or the last beat left some of it behind, which the fresh rows would
 *   deprive of its share; and no more than a sweep would publish: what its provider takes until the next beat, less
 *   what the queue has of it;
 * - of a group nothing while an older row of it is not finished: of several new ones the first.
 */
export async function leaseOwn(
  ledger: Ledger,
  durations: Durations,
  { events, every, queued }: LeaseOwnOptions,
): Promise<{ leased: Leased[]; cancelled: number }> {
  const rows = await leaseRows(
    ledger,
    durations,
    (sql) => sql`
      beat AS MATERIALIZED (
        SELECT beat_at AS at FROM owed.heartbeat
        WHERE paused_at IS NULL AND beat_at > now() - make_interval(secs => 2 * ${every}::float8)
      ), ready AS MATERIALIZED (
        SELECT n.id, n.channel
        FROM beat CROSS JOIN owed.event e
        CROSS JOIN LATERAL (
          SELECT n.id, n.event_key, n.subscriber_id, n.channel FROM owed.notification n
          WHERE n.id > e.key AND n.id <= owed.notification_id(e.key, 65535)
          OFFSET 0) AS n
        WHERE e.id = ANY (${events}::text[]) AND NOT EXISTS (
          -- LATERAL and OFFSET 0, as in owed.telling: a short range of the primary key for each event of the shipment.
          SELECT FROM owed.event own
          JOIN owed.event older ON older.shipment_id = own.shipment_id AND (older.occurred_at, older.id) <= (own.occurred_at, own.id)
          CROSS JOIN LATERAL (
            SELECT FROM owed.notification waits
            WHERE waits.id > older.key AND waits.id <= owed.notification_id(older.key, 65535)
              AND waits.subscriber_id = n.subscriber_id
              AND (older.occurred_at, older.id, waits.id) < (own.occurred_at, own.id, n.id)
              AND waits.state IN ('pending', 'leased', 'queued', 'sending') AND waits.due_at <= now() AND waits.owed_at IS DISTINCT FROM 'infinity'
            OFFSET 0) AS found
          WHERE own.key = n.event_key)
      ), oldest AS MATERIALIZED (
        -- Where more than so many wait, other channels' may hide one's own: the budget alone keeps room for that.
        SELECT n.channel, n.state, n.owed_at FROM beat JOIN owed.notification n ON n.owed_at <= now()
        ORDER BY n.owed_at LIMIT ${looked}
      ), behind AS MATERIALIZED (
        SELECT DISTINCT channel FROM oldest, beat WHERE oldest.owed_at < beat.at AND state IN ('pending', 'leased')
      ), room AS MATERIALIZED (
        SELECT budget.channel, budget.most - (
          SELECT count(*) FROM (
            SELECT FROM owed.notification n
            WHERE n.owed_at > now() AND n.owed_at <= now() + make_interval(secs => ${durations.lostAfter})
              AND n.channel = budget.channel AND n.state IN ('queued', 'sending', 'leased')
            UNION ALL
            SELECT FROM oldest WHERE oldest.channel = budget.channel AND oldest.state IN ('queued', 'sending')
            LIMIT budget.most) AS busy) AS most
        FROM (
          SELECT c.name AS channel, greatest(0, least(
            CASE WHEN c.rate IS NULL THEN ${queued}::int ELSE greatest(1, floor(c.rate * ${every}::float8)) END,
            c.quota - c.used))::int AS most
          FROM owed.channel c
          WHERE c.name IN (SELECT channel FROM ready) AND c.name NOT IN (SELECT channel FROM behind)
            AND coalesce(c.closed_until <= now(), true) AND c.openings = 0
        ) AS budget
      ), due AS MATERIALIZED (
        SELECT own.*
        FROM room CROSS JOIN LATERAL (
          SELECT n.id, n.owed_at FROM owed.notification n
          WHERE n.id = ANY (ARRAY(SELECT id FROM ready)) AND n.channel = room.channel AND n.state = 'pending' AND n.owed_at <= now()
          ORDER BY n.owed_at, n.id
          LIMIT room.most
          FOR UPDATE OF n SKIP LOCKED
        ) AS own
      )`,
  );
  const leased = leasedOf(rows);
  return { leased, cancelled: rows.length - leased.length };
}
