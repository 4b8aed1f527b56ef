import { beginSweep, defaultDurations as durations } from "@owed/ledger";
import type { TestDatabase } from "../../../../tests/support/database.ts";

type Sql = Pick<TestDatabase, "sql">;

export type ChannelRow = {
  rate: number | null;
  failures: number;
  openings: number;
  closed_for: string | null;
  closed_why: string | null;
  /** Seconds until it opens, rounded; null: it was never closed. */
  opens_in: number | null;
};

/** A channel that is open, and whose provider works. */
export const opened = { failures: 0, openings: 0, closed_for: null, opens_in: null };

export async function readChannel({ sql }: Sql, name = "email"): Promise<ChannelRow> {
  const [row] = await sql<ChannelRow[]>`
    SELECT rate, failures, openings, closed_for, closed_why,
      round(extract(epoch FROM closed_until - now()))::float8 AS opens_in
    FROM owed.channel WHERE name = ${name}`;
  if (!row) throw new Error(`there is no channel ${name}`);
  return row;
}

export const setRate = ({ sql }: Sql, rate: number) =>
  sql`UPDATE owed.channel SET rate = ${rate} WHERE name = 'email'`;

/** The breaker has opened, as after four failures in a row. */
export const openBreaker = ({ sql }: Sql) => sql`
  UPDATE owed.channel SET failures = 4, openings = 1, closed_at = now(), closed_until = now() + interval '30 seconds',
    closed_for = 'down', closed_why = 'Down: the request was not written'
  WHERE name = 'email'`;

/** Owes `rows` text messages to as many shipments' buyers. */
export async function oweBySms({ sql }: Sql, rows: number): Promise<void> {
  await sql`
    WITH shipment AS (SELECT 'sms-' || n || '-' || gen_random_uuid() AS id FROM generate_series(1, ${rows}::int) n),
      registered AS MATERIALIZED (
        SELECT id, owed.register_shipment(id, 'M-1', 'Shop', 'T-1'),
          owed.subscribe(id, 'buyer-1', 'buyer', 'sms', '+4312345678') FROM shipment)
    SELECT owed.record_event('E-' || id, id, 'out_for_delivery', clock_timestamp()) FROM registered`;
}

/** The next sweep publishes a few rows of email alone. */
export async function probes({ ledger, sql }: TestDatabase): Promise<boolean> {
  await sql`UPDATE owed.heartbeat SET holder = NULL, held_until = NULL`;
  const beginning = await beginSweep(ledger, durations);
  if (!beginning.taken) throw new Error(`not taken: ${beginning.why}`);
  return beginning.channels.some(({ channel, probing }) => channel === "email" && probing);
}
