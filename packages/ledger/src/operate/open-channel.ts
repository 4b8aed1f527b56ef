import { NotAllowed } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { Said } from "./note-act.ts";

/**
 * Opens a channel, whatever closed it, and forgets its failures and its quota, which is read again: the next sweep
 * publishes what it may. Returns false when it was open. Throws `NotAllowed` when there is no such channel.
 */
export async function openChannel(ledger: Ledger, channel: string, { actor, why }: Said): Promise<boolean> {
  const [row] = await ledger.run(
    (sql) => sql<{ closed: boolean }[]>`
      WITH seen AS (
        SELECT name, coalesce(closed_until > now(), false) AS closed FROM owed.channel WHERE name = ${channel} FOR NO KEY UPDATE
      ), opened AS (
        UPDATE owed.channel c SET failures = 0, openings = 0, closed_at = NULL, closed_until = NULL, closed_for = NULL, closed_why = NULL,
          quota = NULL, used = NULL, limits_read_at = NULL
        FROM seen WHERE c.name = seen.name
        RETURNING seen.closed
      ), told AS (
        INSERT INTO owed.act (actor, did, subject, why) SELECT ${actor}, 'opened', ${channel}, ${why} FROM opened WHERE closed
      )
      SELECT closed FROM opened`,
    { repeatable: false },
  );
  if (!row) throw new NotAllowed(`there is no channel ${channel} that could be opened`);
  return row.closed;
}
