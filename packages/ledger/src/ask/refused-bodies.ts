import type { Ledger } from "../connect/ledger.ts";

export type RefusedBody = {
  id: string;
  queue: "event" | "feedback";
  /** When it was given back to its queue, by whom; null: not yet. */
  retriedAt: Date | null;
  retriedBy: string | null;
  /** Of the whole body; of one larger than 64 KiB `body` is the beginning alone. */
  bytes: number;
  body: Buffer;
};

/** These, or a queue's that were not given back yet (with `again`: all of it) up to the one that was the newest. */
export type RefusedChoice =
  | { ids: readonly string[] }
  | { queue: "event" | "feedback"; again: boolean; newest: string };

/** The bodies of refused events to be given back to their queue, oldest first, those after `after`. */
export async function listRefusedBodies(
  ledger: Ledger,
  choice: RefusedChoice,
  { after, limit }: { after: string; limit: number },
): Promise<RefusedBody[]> {
  return ledger.run(
    (sql) => sql<RefusedBody[]>`
      SELECT id, queue, retried_at AS "retriedAt", retried_by AS "retriedBy", body_bytes AS bytes, body
      FROM owed.refused_event
      WHERE id > ${after}::bigint AND ${
        "ids" in choice
          ? sql`id = ANY(${[...choice.ids]}::bigint[])`
          : sql`id <= ${choice.newest}::bigint AND queue = ${choice.queue} AND (${choice.again} OR retried_at IS NULL)`
      }
      ORDER BY id LIMIT ${limit}`,
    { repeatable: true },
  );
}
