import type { Ledger } from "../connect/ledger.ts";

const keptBytes = 64 * 1024;

/**
 * Keeps a refused event for a look: `owed refused` lists them, and gives them back to the queue they came by. The body is stored as bytes, since it may hold
 * what text can't; of a larger one the first 64 KiB. The same message again is kept once.
 */
export async function keepRefusedEvent(
  ledger: Ledger,
  refused: { messageId: string; queue: "event" | "feedback"; field: string; reason: string; body: string },
): Promise<void> {
  const body = Buffer.from(refused.body, "utf8");
  await ledger.run(
    (sql) => sql`
      INSERT INTO owed.refused_event (message_id, queue, field, reason, body, body_bytes)
      VALUES (${refused.messageId}, ${refused.queue}, ${refused.field}, ${refused.reason}, ${body.subarray(0, keptBytes)}, ${body.length})
      ON CONFLICT (message_id) DO NOTHING`,
    { repeatable: true },
  );
}
