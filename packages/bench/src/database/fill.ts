import { randomUUID } from "node:crypto";
import type { Ledger } from "@owed/ledger";

/** Who is told of a delivery exception by email, at once. */
const roles = ["buyer", "merchant", "agent", "warehouse"];
/** Of the last hour's shipments two are told of one event, of those that are over all of two events. */
const owed = { events: 1, roles: roles.slice(0, 2) };
const over = { events: 2, roles };
/** Shipments whose history is written by one statement. */
const chunk = 6250;

/** Intervals before now between which rows become due. */
export type Due = { from: string; to: string };

/**
 * Owes so many notifications by email, as after an outage: pending, due one after the other in the last hour, each still
 * true. Every shipment has one event, which tells two.
 */
export const oweRows = (
  ledger: Ledger,
  rows: number,
  due: Due = { from: "1 hour", to: "0" },
): Promise<unknown> =>
  addShipments(ledger, {
    ...{ ...owed, rows, shipments: Math.ceil(rows / owed.roles.length), due },
    columns: "owed_at",
    values: "recorded_at",
  });

/**
 * Percent of a page that is written. An hour of churn leaves pages on which less than half is free, so that a new row is written
 * to a new page, beside its like. On pages that are just half full, a pending row, which is shorter than one that was
 * delivered, would fall into the room that is left on each: what is owed would be spread over all of the history.
 */
const written = 55;

/** Adds so many notifications, or up to seven more, that were delivered in the months before; eight a shipment. */
export async function addHistory(
  ledger: Ledger,
  rows: number,
  progress: (done: number) => void = () => {},
): Promise<void> {
  const shipped = await fillfactor(ledger);
  await writePages(ledger, written);
  try {
    await addLives(ledger, rows, progress);
  } finally {
    await writePages(ledger, shipped);
  }
}

async function fillfactor(ledger: Ledger): Promise<number> {
  const [row] = await ledger.run(
    (sql) => sql<{ percent: number }[]>`
      SELECT option_value::int AS percent FROM pg_class, pg_options_to_table(reloptions)
      WHERE oid = 'owed.notification'::regclass AND option_name = 'fillfactor'`,
    { repeatable: true },
  );
  if (!row) throw new Error("PostgreSQL did not say how full it writes the ledger's pages");
  return row.percent;
}

const writePages = (ledger: Ledger, percent: number): Promise<unknown> =>
  ledger.run((sql) => sql.unsafe(`ALTER TABLE owed.notification SET (fillfactor = ${percent})`), {
    repeatable: true,
  });

async function addLives(ledger: Ledger, rows: number, progress: (done: number) => void): Promise<void> {
  const ofEach = over.events * over.roles.length;
  let left = Math.ceil(rows / ofEach);
  let done = 0;
  const work = async () => {
    while (left > 0) {
      const shipments = Math.min(chunk, left);
      left -= shipments;
      await addShipments(ledger, {
        ...{ ...over, rows: shipments * ofEach, shipments, due: { from: "180 days", to: "0" } },
        columns: `message_id, sent_to, leased_until, queued_at, claimed_at, lease_token, attempts, delivered_at, state,
          outcome, provider, provider_message_id, evidence`,
        values: `md5(event.id || person.role)::uuid::text, address, recorded_at + interval '61 s', recorded_at + interval '1 s',
          recorded_at + interval '1.1 s', 2, 1, recorded_at + interval '1.2 s', 'delivered',
          'arrived', 'ses', '0100018f3b0c8e5a-' || md5(event.id || person.role)::uuid || '-000000', 'reply'`,
      });
      done += shipments * ofEach;
      progress(done);
    }
  };
  await Promise.all([work(), work()]);
}

type Batch = {
  rows: number;
  shipments: number;
  /** Of each shipment. */
  events: number;
  roles: readonly string[];
  /** When the events came, one after the other. */
  due: Due;
  /** Of a notification, what its state needs, and their values. */
  columns: string;
  values: string;
};

/**
 * Shipments with who watches them, their events, of which the last is their status, and what those
 * tell. All in one statement; the foreign keys are not looked up, since what they name is there: ten million times that
 * takes minutes.
 */
async function addShipments(ledger: Ledger, batch: Batch): Promise<unknown> {
  const { rows, shipments, events, due, columns, values } = batch;
  const people = batch.roles.map((role, place) => `('${role}', ${place + 1})`).join(", ");
  const name = randomUUID().slice(0, 8);
  await ledger.run(
    (sql) =>
      sql`INSERT INTO owed.merchant (id, name, tracking_url)
        VALUES ('M-bench', 'Bench & Daughters', 'https://bench.example/{tracking_number}') ON CONFLICT DO NOTHING`,
    { repeatable: true },
  );
  const statement = `
    WITH shipment AS MATERIALIZED (
      SELECT 'S-${name}-' || n AS id, n FROM generate_series(1, ${shipments}) n
    ), event AS MATERIALIZED (
      SELECT shipment.id AS shipment_id, n, place, 'E-${name}-' || n || '-' || place AS id, recorded_at,
        (left(uuidv7(recorded_at - now())::text, 32) || '0000')::uuid AS key
      FROM shipment CROSS JOIN generate_series(1, ${events}) place
      CROSS JOIN LATERAL (
        SELECT now() - interval '${due.to}'
          - (interval '${due.from}' - interval '${due.to}') * (1 - (place - 1 + n / ${shipments + 1}.0) / ${events}) AS recorded_at
      ) AS at
      ORDER BY recorded_at
    ), person AS (
      INSERT INTO owed.subscriber (shipment_id, recipient_id, role, channel, address, name, time_zone)
      SELECT shipment.id, person.role || '-' || n, person.role, 'email', person.role || n || '@example.com', 'Ann Example', 'Europe/Lisbon'
      FROM shipment CROSS JOIN (VALUES ${people}) AS person (role, place)
      RETURNING id, shipment_id, role, address
    ), added_shipments AS (
      INSERT INTO owed.shipment (id, merchant_id, tracking_number, status, status_at, status_event_id)
      SELECT shipment_id, 'M-bench', 'OW-${name}-' || n, 'delivery_exception', recorded_at, id FROM event WHERE place = ${events}
    ), added_events AS (
      INSERT INTO owed.event (key, id, shipment_id, status, occurred_at, recorded_at)
      SELECT key, id, shipment_id, 'delivery_exception', recorded_at, recorded_at FROM event
    )
    INSERT INTO owed.notification (id, event_key, subscriber_id, rule_id, channel, due_at, send_by, ${columns})
    SELECT owed.notification_id(event.key, told.place), event.key, person.id, r.id,
      r.channel, recorded_at, recorded_at + make_interval(secs => r.send_within_s), ${values}
    FROM event
    JOIN person USING (shipment_id)
    JOIN (VALUES ${people}) AS told (role, place) USING (role)
    JOIN owed.rule r ON r.active AND r.merchant_id IS NULL AND r.delay_s = 0 AND r.channel = 'email'
      AND r.status = 'delivery_exception' AND r.role = person.role
    ORDER BY event.key, told.place LIMIT ${rows}`;
  return await ledger.run(
    (sql) =>
      sql.begin(async (transaction) => {
        await transaction`SET LOCAL session_replication_role = replica`;
        await transaction`SET LOCAL work_mem = '64MB'`;
        await transaction.unsafe(statement);
        await transaction.unsafe(countNow);
      }),
    { repeatable: false },
  );
}

/** Takes everything out of the ledger but rules and channels, which are as new. */
export const emptyLedger = (ledger: Ledger): Promise<unknown> =>
  ledger.run(
    (sql) =>
      sql`TRUNCATE owed.attempt, owed.notification, owed.notification_archive, owed.event, owed.subscriber, owed.shipment,
        owed.claim_mark, owed.sweep_run RESTART IDENTITY CASCADE`,
    { repeatable: true },
  );

/**
 * Has what a transaction changes counted at its end, and not some seconds later, when autovacuum would take for new what
 * `settle` has cleared away.
 */
export const countNow = "SELECT pg_stat_force_next_flush()";

/** Lets the server do now what it would do while something is measured. */
export async function settle(
  ledger: Ledger,
  tables = "owed.notification, owed.event, owed.subscriber, owed.shipment, owed.attempt, owed.claim_mark",
): Promise<void> {
  await ledger.run((sql) => sql.unsafe(`VACUUM (ANALYZE) ${tables}`), { repeatable: true });
  await ledger.run((sql) => sql`CHECKPOINT`, { repeatable: true });
}
