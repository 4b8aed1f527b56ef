import type { Evidence, State } from "@owed/ledger";
import type postgres from "postgres";
import { patiently } from "./world/database.ts";

/** A row of the ledger, with what was told of it and which rules its life has broken. */
export type Record = {
  id: string;
  event: string;
  recipient: string;
  state: State;
  evidence: Evidence | null;
  reason: string | null;
  attempts: number;
  /** Sends that the ledger counts as possible duplicates. */
  counted: number;
  /** The recipient was told something newer about the same shipment, and what cancelled the row was told or replaced itself. */
  overtaken: boolean;
  told: string[];
  broken: string[];
};

type Sql = { sql: postgres.Sql };

/**
 * From now on the database itself notes what must never happen to a row: an end that is left, a second time of
 * delivery. Ends with the database.
 */
export async function watchRows({ sql }: Sql): Promise<void> {
  await patiently(() => sql.unsafe(watching));
}

const watching = `
    CREATE SCHEMA IF NOT EXISTS watch;
    CREATE TABLE IF NOT EXISTS watch.broken (id uuid, rule text);
    CREATE OR REPLACE FUNCTION watch.note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.state IN ('delivered', 'cancelled') AND NEW.state <> OLD.state THEN
        INSERT INTO watch.broken VALUES (NEW.id, 'it left ' || OLD.state || ' for ' || NEW.state);
      END IF;
      IF OLD.delivered_at IS DISTINCT FROM NEW.delivered_at AND OLD.delivered_at IS NOT NULL THEN
        INSERT INTO watch.broken VALUES (NEW.id, 'delivered_at was set twice');
      END IF;
      IF NEW.lease_token < OLD.lease_token OR NEW.generation < OLD.generation THEN
        INSERT INTO watch.broken VALUES (NEW.id, 'its token or its generation went back');
      END IF;
      RETURN NULL;
    END $$;
    CREATE OR REPLACE TRIGGER watched AFTER UPDATE ON owed.notification FOR EACH ROW EXECUTE FUNCTION watch.note();
    TRUNCATE watch.broken`;

/** All rows of the ledger. */
export const readRecords = ({ sql }: Sql): Promise<Record[]> => sql<Record[]>`
  SELECT n.id, e.id AS event, s.recipient_id AS recipient, n.state, n.evidence, n.reason, n.attempts,
    (SELECT count(*)::int FROM owed.attempt a WHERE a.notification_id = n.id AND a.kind = 'resent') AS counted,
    EXISTS (
      SELECT FROM owed.notification newer JOIN owed.event later ON later.key = newer.event_key
      WHERE newer.subscriber_id = n.subscriber_id AND newer.state = 'delivered'
        AND (later.occurred_at, later.id) > (e.occurred_at, e.id))
    AND EXISTS (
      SELECT FROM owed.notification newer JOIN owed.event named ON named.key = newer.event_key
      WHERE n.cancelled_by = 'event ' || named.id AND newer.subscriber_id = n.subscriber_id
        AND (named.occurred_at, named.id) > (e.occurred_at, e.id)
        AND (newer.state = 'delivered' OR newer.reason IN ('expired', 'superseded'))) AS overtaken,
    ARRAY(SELECT kind FROM owed.attempt a WHERE a.notification_id = n.id ORDER BY a.id) AS told,
    ARRAY(SELECT rule FROM watch.broken b WHERE b.id = n.id) AS broken
  FROM owed.notification n
  JOIN owed.event e ON e.key = n.event_key
  JOIN owed.subscriber s ON s.id = n.subscriber_id`;
