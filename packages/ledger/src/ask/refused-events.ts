import type { Ledger } from "../connect/ledger.ts";

export type RefusedEvent = {
  id: string;
  refusedAt: Date;
  /** The queue that it came by. */
  queue: "event" | "feedback";
  /** When it was given back to its queue, by whom; null: not yet. */
  retriedAt: Date | null;
  retriedBy: string | null;
  field: string;
  reason: string;
  bytes: number;
  body: Buffer;
};

/** Refused events kept for a look, newest first; of a large body the first 64 KiB. */
export async function listRefusedEvents(ledger: Ledger, limit: number): Promise<RefusedEvent[]> {
  return ledger.run(
    (sql) => sql<RefusedEvent[]>`
      SELECT id, refused_at AS "refusedAt", queue, retried_at AS "retriedAt", retried_by AS "retriedBy", field, reason, body_bytes AS bytes, body
      FROM owed.refused_event ORDER BY id DESC LIMIT ${limit}`,
    { repeatable: true },
  );
}
