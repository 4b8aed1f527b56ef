import type { Leased } from "@owed/ledger";

/** Rows that go out in one call, and the batches that must have gone out before. */
export type Batch = { rows: Leased[]; after: Batch[] };

/** SendMessageBatch takes ten entries at most (Amazon SQS API reference). */
const most = 10;

/**
 * Packs rows into full batches in their order. A batch waits only for the last batch that has one of its
 * groups: batches fly in parallel, and the order within each group holds.
 */
export function pack(rows: readonly Leased[]): Batch[] {
  const batches: Batch[] = [];
  const lastOf = new Map<string, Batch>();
  for (let from = 0; from < rows.length; from += most) {
    const batch: Batch = { rows: rows.slice(from, from + most), after: [] };
    const groups = new Set(batch.rows.map((row) => row.group));
    batch.after = [...new Set([...groups].flatMap((group) => lastOf.get(group) ?? []))];
    for (const group of groups) lastOf.set(group, batch);
    batches.push(batch);
  }
  return batches;
}
