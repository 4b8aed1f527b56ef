import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "../operate/refusal.ts";

/** Whom: everybody with an address, on one channel or all; or a shipment's recipient. */
export type Person =
  | { address: string; channel?: string | undefined }
  | { shipmentId: string; recipientId: string };

/** Rows in which something of the person stood. */
export type Erased = {
  /** The record of it: null when nothing was found, or nothing was done. */
  id: string | null;
  subscribers: number;
  /** Notifications, archived ones too, that said to which address they went. */
  notifications: number;
  /** Not sent yet, and cancelled. */
  cancelled: number;
  /** Suppressions, which keep a digest of the address. */
  suppressions: number;
  /** Refused events whose kept bodies were emptied. */
  refusedEvents: number;
  /** Reasons, a provider's or people's, that had an address or a name in them. */
  texts: number;
};

/**
 * Erases what the ledger has of a person: addresses, names, and where messages went. That they were notified, when and
 * on what evidence stays. All of it or nothing; once more, nothing is left to do. With `dryRun` it is only counted.
 */
export async function erase(
  ledger: Ledger,
  person: Person,
  { actor, why }: Act,
  { dryRun }: { dryRun: boolean },
): Promise<Erased> {
  const { address, channel, shipmentId, recipientId } = {
    ...{ address: null, channel: null, shipmentId: null, recipientId: null },
    ...person,
  };
  const [row] = await ledger.run(
    (sql) => sql<Erased[]>`
      SELECT id, subscribers, notifications, cancelled, suppressions, refused_events AS "refusedEvents", texts
      FROM owed.erase(${address}, ${channel ?? null}, ${shipmentId}, ${recipientId}, ${actor}, ${why}, ${dryRun})`,
    { repeatable: true },
  );
  if (!row) throw new Error("the ledger did not say what it erased");
  return row;
}
