import type { Leased } from "@owed/ledger";

/** SendMessageBatch takes ten entries at most (Amazon SQS API reference). */
const most = 10;

/**
 * Packs rows into batches as full as can be. A batch has one row of a group at most, since SQS may refuse one
 * entry of a call and accept the next; a group's rows are in batches one after the other.
 */
export function pack(rows: readonly Leased[]): Leased[][] {
  const batches: Leased[][] = [];
  const lastOf = new Map<string, number>();
  let firstOpen = 0;
  for (const row of rows) {
    const last = lastOf.get(row.group);
    let place = Math.max(firstOpen, last === undefined ? 0 : last + 1);
    while ((batches[place]?.length ?? 0) >= most) place += 1;
    const batch = batches[place] ?? [];
    batches[place] = batch;
    batch.push(row);
    lastOf.set(row.group, place);
    while ((batches[firstOpen]?.length ?? 0) >= most) firstOpen += 1;
  }
  return batches;
}
