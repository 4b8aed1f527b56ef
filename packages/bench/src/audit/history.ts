import { type Ledger, retain } from "@owed/ledger";
import { addHistory, oweRows, settle } from "../database/fill.ts";
import { withProgress } from "../progress.ts";

/** The youngest history that may go to the archive, and rows of one step of it. */
const retention = { days: 15, refusedDays: 30 };
const step = 20_000;

/**
 * A ledger as after months: delivered notifications, some of them after tries that failed, some that wait, and an archive
 * of what is over. Returns how many are in the archive.
 */
export async function makeHistory(
  ledger: Ledger,
  { rows, archived }: { rows: number; archived: number },
): Promise<number> {
  await withProgress("rows of history", rows, (update) => addHistory(ledger, rows, update));
  await oweRows(ledger, Math.ceil(rows / 1000));
  await addTries(ledger);
  await settle(ledger);
  const moved = await withProgress("rows for the archive", archived, (update) =>
    archive(ledger, archived, update),
  );
  await settle(ledger);
  return moved;
}

/** Of every fiftieth notification a try failed, and another one was throttled. */
const addTries = (ledger: Ledger): Promise<unknown> =>
  ledger.run(
    (sql) => sql`
      INSERT INTO owed.attempt (notification_id, kind, generation, message_id, reason)
      SELECT n.id, kind, 0, n.message_id, 'provider_error: 503'
      FROM (SELECT id, message_id, row_number() OVER (ORDER BY id) AS place FROM owed.notification) AS n
      CROSS JOIN unnest(ARRAY['failed', 'throttled']) AS kind
      WHERE n.place % 50 = 0`,
    { repeatable: false },
  );

/** By the shipped retention, as the sweep does it. */
async function archive(ledger: Ledger, most: number, update: (done: number) => void): Promise<number> {
  await ledger.run((sql) => sql`UPDATE owed.retention SET next_at = now()`, { repeatable: true });
  let done = 0;
  for (let more = true; more && done < most; ) {
    const retained = await retain(ledger, retention, step);
    done += retained.moved;
    more = retained.more;
    update(done);
  }
  return done;
}
