import type { Ledger } from "../connect/ledger.ts";
import type { Durations } from "../durations.ts";

/** A channel as its row and the ledger have it. */
export type Channel = {
  name: string;
  /** Rows due and not in the queue, and rows that the queue or a worker has. */
  due: number;
  inQueue: number;
  /** Messages a second that the provider takes; null: no limit is known. */
  rate: number | null;
  /** Messages in 24 hours, and how many were used when the limits were read; null: no limit is known. */
  quota: number | null;
  used: number | null;
  limitsReadAt: Date | null;
  /** Provider calls that failed in a row. */
  failures: number;
  /** `until` is null when only a person opens it. */
  closed: { for: string; why: string; since: Date; until: Date | null } | null;
  /** Seconds until what is due is sent; null: nobody can say. */
  timeToDrain: number | null;
};

type Row = Omit<Channel, "closed"> & {
  closed_for: string | null;
  closed_why: string | null;
  closed_at: Date | null;
  closed_until: Date | null;
};

/** Every channel: what it has before it, its provider's limits, and whether it is open. */
export async function readChannels(ledger: Ledger, durations: Durations): Promise<Channel[]> {
  const rows = await ledger.run(
    (sql) => sql<Row[]>`
      SELECT c.name, coalesce(load.due, 0)::int AS due, coalesce(load.in_queue, 0)::int AS "inQueue", c.rate,
        c.quota, c.used, c.limits_read_at AS "limitsReadAt", c.failures,
        owed.time_to_drain(c, coalesce(load.due, 0), coalesce(load.in_queue, 0)) AS "timeToDrain",
        CASE WHEN c.closed_until > now() THEN c.closed_for END AS closed_for, c.closed_why, c.closed_at,
        CASE WHEN isfinite(c.closed_until) THEN c.closed_until END AS closed_until
      FROM owed.channel c LEFT JOIN owed.load(${durations.lostAfter}, ${durations.lease}) AS load ON load.channel = c.name
      ORDER BY c.name`,
    { repeatable: true },
  );
  return rows.map(({ closed_for, closed_why, closed_at, closed_until, ...row }) => ({
    ...row,
    closed:
      closed_for && closed_why && closed_at
        ? { for: closed_for, why: closed_why, since: closed_at, until: closed_until }
        : null,
  }));
}
