import type { State } from "@owed/ledger";
import type { Simulation } from "./simulation.ts";

/** A change of a notification, as the database saw it; or what somebody did to the history as a whole. */
export type Change = {
  seq: number;
  id: string;
  was: State | null;
  became: State;
  was_token: number;
  token: number;
  was_generation: number;
  generation: number;
  was_attempts: number;
  attempts: number;
  was_resends: number;
  resends: number;
  evidence: string | null;
  reason: string | null;
  message_id: string | null;
  owed: boolean;
  looked: boolean;
  moved_delivery: boolean;
  by: string;
  moot: string | null;
  unfounded: string | null;
  out_of_turn: string | null;
  note: string | null;
};

/** A notification at the end. */
export type Row = {
  id: string;
  key: string;
  state: State;
  evidence: string | null;
  reason: string | null;
  provider_message_id: string | null;
  attempts: number;
  owed: boolean;
  too_late: boolean;
  opted_out: boolean;
  suppressed: boolean;
  /** The shipment has a newer event. */
  older: boolean;
};

/** All that a history has left in the database. */
export type Left = {
  rows: Row[];
  changes: Change[];
  /** What was told of tries, whatever became of the ledger since. */
  told: { id: string; kind: string; reason: string | null }[];
  /** What each notification that there ever was says to whom. */
  keys: Map<string, string>;
  events: string[];
};

export async function readLeft({ sql }: Simulation): Promise<Left> {
  const [left] = await sql<
    {
      rows: Row[];
      changes: Change[];
      told: Left["told"];
      known: { id: string; key: string }[];
      events: string[];
    }[]
  >`
    SELECT
      (SELECT coalesce(json_agg(r), '[]') FROM (
        SELECT n.id, k.key, n.state, n.evidence, n.reason, n.provider_message_id, n.attempts, n.owed_at IS NOT NULL AS owed,
          coalesce(n.send_by <= now(), false) AS too_late, s.opted_out_at IS NOT NULL AS opted_out,
          EXISTS (SELECT FROM owed.suppression x WHERE x.address = lower(s.address)) AS suppressed,
          EXISTS (SELECT FROM owed.event newer WHERE newer.shipment_id = e.shipment_id
            AND (newer.occurred_at, newer.id) > (e.occurred_at, e.id)) AS older
        FROM owed.notification n JOIN audit.known k ON k.id = n.id JOIN owed.subscriber s ON s.id = n.subscriber_id
        JOIN owed.event e ON e.key = n.event_key) r) AS rows,
      (SELECT coalesce(json_agg(c ORDER BY seq), '[]') FROM audit.change c) AS changes,
      (SELECT coalesce(json_agg(t), '[]') FROM audit.told t) AS told,
      (SELECT coalesce(json_agg(k), '[]') FROM audit.known k) AS known,
      (SELECT coalesce(json_agg(id), '[]') FROM owed.event) AS events`;
  if (!left) throw new Error("the database did not answer");
  const { known, ...rest } = left;
  return { ...rest, keys: new Map(known.map(({ id, key }) => [id, key])) };
}
