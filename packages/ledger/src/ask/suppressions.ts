import type { Ledger } from "../connect/ledger.ts";

export type Suppression = {
  channel: string;
  address: string;
  cause: "bounced" | "complained" | "opted_out";
  /** What the provider said. */
  detail: string | null;
  /** The notification that led to it; null where its owner opted out. */
  notificationId: string | null;
  suppressedAt: Date;
  lifted: { at: Date; by: string; why: string } | null;
};

type Row = Omit<Suppression, "lifted"> & {
  lifted_at: Date | null;
  lifted_by: string | null;
  lifted_why: string | null;
};

/** Addresses that are not written to, newest first; with `lifted` also those that are again. */
export async function listSuppressions(
  ledger: Ledger,
  { address, lifted, limit }: { address?: string | undefined; lifted: boolean; limit: number },
): Promise<Suppression[]> {
  const rows = await ledger.run(
    (sql) => sql<Row[]>`
      SELECT channel, address, cause, detail, notification_id AS "notificationId", suppressed_at AS "suppressedAt",
        lifted_at, lifted_by, lifted_why
      FROM owed.suppression
      WHERE (${lifted} OR lifted_at IS NULL)
        AND (${address ?? null}::text IS NULL OR address = ANY (owed.address_keys(${address ?? null}::text)))
      ORDER BY id DESC LIMIT ${limit}`,
    { repeatable: true },
  );
  return rows.map(({ lifted_at, lifted_by, lifted_why, ...row }) => ({
    ...row,
    lifted: lifted_at && lifted_by && lifted_why ? { at: lifted_at, by: lifted_by, why: lifted_why } : null,
  }));
}
