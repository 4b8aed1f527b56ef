import type { Leased } from "@owed/ledger";

/** Rows that go out in one call, and the batches that must have gone out before. */
export type Batch = { rows: Leased[]; after: Batch[] };

/** SendMessageBatch takes ten entries at most (Amazon SQS API reference). */
const most = 10;

/**
 * Packs rows into batches as full as can be. A batch has one row of a group at most, since SQS may refuse one
 * entry of a call and accept the next; and it waits for the batch that has the row before: batches fly in
 * parallel, and the order within each group holds.
 */
export function pack(rows: readonly Leased[]): Batch[] {
  const batches: Batch[] = [];
  const lastOf = new Map<string, number>();
  let firstOpen = 0;
  for (const row of rows) {
    const last = lastOf.get(row.group);
    let place = Math.max(firstOpen, last === undefined ? 0 : last + 1);
    while ((batches[place]?.rows.length ?? 0) >= most) place += 1;
    const batch = batches[place] ?? { rows: [], after: [] };
    batches[place] = batch;
    batch.rows.push(row);
    const before = last === undefined ? undefined : batches[last];
    if (before && !batch.after.includes(before)) batch.after.push(before);
    lastOf.set(row.group, place);
    while ((batches[firstOpen]?.rows.length ?? 0) >= most) firstOpen += 1;
  }
  return batches;
}
