import type { Ledger } from "../connect/ledger.ts";

export type Retention = {
  /** Days after its end that a notification stays beside the living ones; null: for ever. */
  days: number | null;
  /** Days that refused events are kept. */
  refusedDays: number;
};

export type Retained = {
  /** Notifications that went to the archive. */
  moved: number;
  /** Refused events that were deleted. */
  refused: number;
  /** There is more to do at once. */
  more: boolean;
};

/**
 * One step of retention, of about `most` rows: moves notifications of shipments that are over to the archive, and
 * deletes old refused events, sweep runs (400 days) and claim marks (15 days). All of it or nothing. Does nothing
 * while another one is at it, or when it was done within the hour.
 */
export async function retain(
  ledger: Ledger,
  { days, refusedDays }: Retention,
  most: number,
): Promise<Retained> {
  const [row] = await ledger.run(
    (sql) => sql<Retained[]>`SELECT moved, refused, more FROM owed.retain(${days}, ${refusedDays}, ${most})`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger did not say what it moved to the archive");
  return row;
}
