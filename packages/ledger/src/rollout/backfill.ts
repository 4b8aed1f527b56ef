import type { Ledger } from "../connect/ledger.ts";

/** One of today's timers, as a line of the file has it; times in RFC 3339, with their offset. */
export type Timer = {
  line: number;
  timer_id: string | null;
  merchant_id: string;
  merchant_name: string;
  shipment_id: string;
  tracking_number: string;
  event_id: string | null;
  status: string;
  occurred_at: string;
  recipient_id: string;
  role: string;
  channel: string;
  address: string;
  name: string | null;
  locale: string;
  time_zone: string | null;
  template: string;
  due_at: string;
  send_by: string | null;
};

/** A line that is left out, and why; never with a value, which may be an address. */
export type Refusal = { line: number; timer_id: string | null; field: string; reason: string };

/** What a file has led to so far. */
export type Backfill = {
  mode: "old" | "shadow";
  /** Records taken in: each is added, repeated or refused. */
  records: number;
  added: number;
  /** The ledger had these already. */
  repeated: number;
  refused: number;
  finished: boolean;
};

type Row = Omit<Backfill, "finished"> & { finished_at: Date | null };

const backfillOf = ({ mode, records, added, repeated, refused, finished_at }: Row): Backfill => ({
  mode,
  records: Number(records),
  added: Number(added),
  repeated: Number(repeated),
  refused: Number(refused),
  finished: finished_at !== null,
});

export type BackfillFile = {
  /** SHA-256 of its content, in hexadecimal. */
  digest: string;
  name: string;
  /** The mode of merchants that the ledger does not know yet. */
  mode: "old" | "shadow";
  actor: string;
};

/** Begins with a file, or says how far an earlier run came, whatever mode it asked for. */
export async function beginBackfill(
  ledger: Ledger,
  { digest, name, mode, actor }: BackfillFile,
): Promise<Backfill> {
  const [row] = await ledger.run(
    (sql) => sql<Row[]>`
      WITH begun AS (
        INSERT INTO owed.backfill (digest, name, mode, actor) VALUES (${digest}, ${name}, ${mode}, ${actor})
        ON CONFLICT DO NOTHING RETURNING mode, records, added, repeated, refused, finished_at
      )
      SELECT * FROM begun
      UNION ALL
      SELECT mode, records, added, repeated, refused, finished_at FROM owed.backfill WHERE digest = ${digest}`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger did not say how far the file is");
  return backfillOf(row);
}

/** The records of a file from `from` (counted from 0) up to `to`: those that can be read, and the others. */
export type Batch = { from: number; to: number; timers: readonly Timer[]; refusals: readonly Refusal[] };

/**
 * Takes in a batch, in one transaction with how far the file is. A batch that another run has taken in already changes
 * nothing. Returns what the file has led to so far.
 */
export async function backfillTimers(ledger: Ledger, digest: string, batch: Batch): Promise<Backfill> {
  const [row] = await ledger.run(
    (sql) => sql<Row[]>`
      SELECT mode, records, added, repeated, refused, finished_at
      FROM owed.backfill_timers(${digest}, ${batch.from}, ${batch.to}, ${JSON.stringify(batch.timers)}::text::jsonb,
        ${JSON.stringify(batch.refusals)}::text::jsonb)`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger did not say how far the file is");
  return backfillOf(row);
}

/** The whole file is in. */
export async function finishBackfill(ledger: Ledger, digest: string): Promise<void> {
  await ledger.run(
    (sql) =>
      sql`UPDATE owed.backfill SET finished_at = now() WHERE digest = ${digest} AND finished_at IS NULL`,
    { repeatable: true },
  );
}

/** What the lines would lead to; nothing changes. */
export async function judgeTimers(ledger: Ledger, timers: readonly Timer[]): Promise<Refusal[]> {
  const rows = await ledger.run(
    (sql) => sql<Refusal[]>`
      SELECT line::int, timer_id, field, reason FROM owed.judge_timers(${JSON.stringify(timers)}::text::jsonb)
      WHERE field IS NOT NULL ORDER BY line`,
    { repeatable: true },
  );
  return [...rows];
}

/** The lines of a file that were left out, in their order: at most the first 10,000 are kept. */
export async function listBackfillRefusals(ledger: Ledger, digest: string): Promise<Refusal[]> {
  const rows = await ledger.run(
    (sql) => sql<Refusal[]>`
      SELECT line::int, timer_id, field, reason FROM owed.backfill_refusal WHERE digest = ${digest} ORDER BY line`,
    { repeatable: true },
  );
  return [...rows];
}
