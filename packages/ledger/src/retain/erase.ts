import { Refused, refusedBy } from "../connect/errors.ts";
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
  /** Reasons, a provider's or people's, and what an old sender said, that had an address or a name in them. */
  texts: number;
  /** Addresses that subscribers had before. */
  formerAddresses: number;
};

/**
 * Erases what the ledger has of a person: addresses, names, and where messages went. That they were notified, when and
 * on what evidence stays. All of it or nothing; once more, nothing is left to do. With `dryRun` it is only counted.
 * Null: there is no such recipient, or nobody has the address and nothing has it in its words. Throws `Refused` for an
 * address that is none and that no row has. By an address that somebody had before, it is erased alone: whoever has
 * another one now stays.
 */
export async function erase(
  ledger: Ledger,
  person: Person,
  { actor, why }: Act,
  { dryRun }: { dryRun: boolean },
): Promise<Erased | null> {
  const { address, channel, shipmentId, recipientId } = {
    ...{ address: null, channel: null, shipmentId: null, recipientId: null },
    ...person,
  };
  try {
    const [row] = await ledger.run(
      (sql) => sql<(Erased & { known: boolean })[]>`
        SELECT id, known, subscribers, notifications, cancelled, suppressions, refused_events AS "refusedEvents", texts,
          former_addresses AS "formerAddresses"
        FROM owed.erase(${address}, ${channel ?? null}, ${shipmentId}, ${recipientId}, ${actor}, ${why}, ${dryRun})`,
      { repeatable: true },
    );
    if (!row) throw new Error("the ledger did not say what it erased");
    const { known, id, ...counts } = row;
    return known || Object.values(counts).some((count) => count > 0) ? { id, ...counts } : null;
  } catch (error) {
    const refused = refusedBy(error);
    if (refused) throw new Refused(refused.field, refused.reason, { cause: error });
    throw error;
  }
}
