import type { TestDatabase } from "../../../../tests/support/database.ts";
import type { History } from "./history.ts";

type Read = Record<string, string | number | null | string[]> & { id: string };

/** In seconds. A step takes a few milliseconds in the ledger, and none in the model; more when the machine is busy. */
const tolerance = 3;

/** Compares every row of the ledger with the model's, times by their distance from now. */
export async function compare(
  { sql }: TestDatabase,
  history: History,
  check: (ledger: unknown, model: unknown) => void,
): Promise<void> {
  const rows = await sql<Read[]>`
    SELECT id, state, lease_token AS token, generation, attempts, rescues, resends, message_id AS "messageId", outcome,
      provider_message_id AS "providerMessageId",
      extract(epoch FROM owed_at - clock_timestamp())::float8 AS "owedAt",
      extract(epoch FROM queued_at - clock_timestamp())::float8 AS "queuedAt",
      extract(epoch FROM died_at - clock_timestamp())::float8 AS "diedAt",
      extract(epoch FROM delivered_at - clock_timestamp())::float8 AS "deliveredAt",
      CASE WHEN state IN ('leased', 'sending') THEN extract(epoch FROM leased_until - clock_timestamp())::float8 END AS "leasedUntil",
      ARRAY(SELECT CASE kind WHEN 'duplicate' THEN 'duplicate ' || provider_message_id ELSE kind END
        FROM owed.attempt WHERE notification_id = notification.id ORDER BY attempt.id) AS tries
    FROM owed.notification`;
  const read = new Map(rows.map((row) => [row.id, row]));
  for (const row of history.rows) {
    const { sendBy, optedOut, suppressed, liftedAt, dueAt, newer, untrue, onUnknown, ...expected } = row;
    if (row.state !== "leased" && row.state !== "sending") Object.assign(expected, { leasedUntil: null });
    const ledger: Record<string, unknown> = { ...read.get(row.id) };
    const model: Record<string, unknown> = { ...expected };
    for (const time of ["owedAt", "queuedAt", "diedAt", "deliveredAt", "leasedUntil"]) {
      const [is, ought] = [ledger[time], model[time]];
      if (typeof is !== "number" || typeof ought !== "number") continue;
      ledger[time] = Math.abs(is - (ought - history.now)) < tolerance ? "as in the model" : `in ${is} s`;
      model[time] = ledger[time] === "as in the model" ? "as in the model" : `in ${ought - history.now} s`;
    }
    check(ledger, model);
  }
}
