import { NotAllowed } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "./refusal.ts";

/**
 * Closes a channel until a person opens it: nothing is leased or sent, and what the queue still has goes back to the
 * ledger. Who and why stand on the channel's row. Returns false when a person had closed it already, whose words then
 * stay. Throws `NotAllowed` when there is no such channel.
 */
export async function closeChannel(ledger: Ledger, channel: string, act: Act): Promise<boolean> {
  const [row] = await ledger.run(
    (sql) => sql<{ closes: boolean }[]>`
      WITH seen AS (
        SELECT name, closed_for IS DISTINCT FROM 'operator' AS closes,
          CASE WHEN closed_until > now() THEN closed_at ELSE now() END AS closed_at
        FROM owed.channel WHERE name = ${channel} FOR NO KEY UPDATE
      ), closed AS (
        UPDATE owed.channel c SET closed_at = seen.closed_at, closed_until = 'infinity', closed_for = 'operator',
          closed_why = ${`${act.actor}: ${act.why}`}
        FROM seen WHERE c.name = seen.name AND closes
      ), told AS (
        INSERT INTO owed.act (actor, did, subject, why) SELECT ${act.actor}, 'closed', ${channel}, ${act.why} FROM seen WHERE closes
      )
      SELECT closes FROM seen`,
    { repeatable: false },
  );
  if (!row) throw new NotAllowed(`there is no channel ${channel} that could be closed`);
  return row.closes;
}
