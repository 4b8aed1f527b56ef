import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "./refusal.ts";

/**
 * Keeps who had SQS move the dead-letter queue, when and why, with each row whose message may have been in it: SQS
 * itself keeps neither. The rows are not changed: the claim of a message that comes back does that, and is told as
 * well. Returns how many were noted.
 */
export async function noteRedrive(
  ledger: Ledger,
  ids: readonly string[],
  { at, actor, why }: Act & { at: Date },
): Promise<number> {
  if (ids.length === 0) return 0;
  const noted = await ledger.run(
    (sql) => sql`
      INSERT INTO owed.attempt (notification_id, at, kind, generation, actor, reason)
      SELECT id, ${at.toISOString()}::timestamptz, 'redriven', generation, ${actor}, ${why}::text || ' (by way of SQS, if its message was still there)'
      FROM owed.notification WHERE id = ANY(${ids.toSorted()}::uuid[])
      ORDER BY id`,
    { repeatable: false },
  );
  return noted.count;
}
