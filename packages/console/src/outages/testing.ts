import { owe } from "../../../../tests/support/shipment.ts";
import type { Desk } from "../testing/context.ts";

/** No sweep, pause or notification is left. */
export const clear = ({ db }: Desk) =>
  db.sql`TRUNCATE owed.sweep_run, owed.pause, owed.notification, owed.notification_archive, owed.attempt`;

/** Sweeps each minute, from so many minutes ago to so many. */
export const beat = ({ db }: Desk, from: number, to: number, finished = true) => db.sql`
  INSERT INTO owed.sweep_run (started_at, finished_at)
  SELECT at, CASE WHEN ${finished} THEN at END
  FROM generate_series(now() - make_interval(mins => ${from}), now() - make_interval(mins => ${to}), interval '1 minute') AS at`;
/** Rows that fell due so many minutes ago, in the middle of the outage. */
export async function fellDue({ db }: Desk, rows: number, minutes = 60): Promise<void> {
  await owe(db, rows);
  await db.sql`UPDATE owed.notification SET due_at = now() - make_interval(mins => ${minutes})`;
}
/** They are sent, eighteen minutes ago. */
export const sendAll = ({ db }: Desk) => db.sql`
  UPDATE owed.notification SET state = 'delivered', delivered_at = now() - interval '18 minutes', provider = 'ses',
    provider_message_id = 'P-' || id, owed_at = NULL, evidence = 'reply' WHERE state = 'pending'`;
/** What a person reads of a page. */
export const plain = (text: string) => text.replace(/<[^>]+>/g, "").replace(/\s+/g, " ");
