import type { Ledger } from "../connect/ledger.ts";
import { type Act, refusal } from "./refusal.ts";

/**
 * A delivered row is never replayed: this owes a new row that names the old one, and returns its id. It has no
 * deadline, since a person wants it now. Throws `NotAllowed` when the row is not delivered.
 */
export async function sendAgain(ledger: Ledger, id: string, act: Act): Promise<string> {
  for (;;) {
    const [row] = await ledger.run(
      (sql) => sql<{ again: string | null }[]>`
        WITH delivered AS (
          SELECT id, event_key, subscriber_id, rule_id, channel, 1 + (
            SELECT count(*) FROM owed.notification_ever last
            WHERE last.id > n.event_key AND last.id <= owed.notification_id(n.event_key, 65535)) AS ordinal
          FROM owed.notification n WHERE id = ${id} AND state = 'delivered'
        ), again AS (
          INSERT INTO owed.notification (id, event_key, subscriber_id, rule_id, channel, due_at, owed_at, replays)
          SELECT owed.notification_id(event_key, ordinal), event_key, subscriber_id, rule_id, channel, now(), now(), id
          FROM delivered
          ON CONFLICT (id) DO NOTHING
          RETURNING id
        ), told AS (
          INSERT INTO owed.attempt (notification_id, kind, generation, actor, reason)
          SELECT id, 'replayed', 0, ${act.actor}, ${act.why} FROM again
        )
        SELECT again.id AS again FROM delivered LEFT JOIN again ON true`,
      { repeatable: false },
    );
    if (!row) throw await refusal(ledger, id, "sent again", "only a delivered one is");
    if (row.again) return row.again;
    // Somebody took the event's next ordinal at the same moment: take the one after it.
  }
}
