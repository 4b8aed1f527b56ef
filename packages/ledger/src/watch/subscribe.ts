import type { Ledger } from "../connect/ledger.ts";
import type { Role } from "../states.ts";

export type Subscriber = {
  shipmentId: string;
  recipientId: string;
  role: Role;
  channel: string;
  address: string | null;
  name: string | null;
  /** BCP 47. */
  locale: string;
  /** By its name in the IANA database; without one the merchant's counts. */
  timeZone?: string | null;
};

/** Has a recipient told about a shipment on a channel, or corrects the address, name and locale of one who is. */
export async function subscribe(ledger: Ledger, subscriber: Subscriber): Promise<void> {
  const { shipmentId, recipientId, role, channel, address, name, locale, timeZone = null } = subscriber;
  await ledger.run(
    (sql) =>
      sql`SELECT owed.subscribe(${shipmentId}, ${recipientId}, ${role}, ${channel}, ${address}, ${name}, ${locale}, ${timeZone})`,
    { repeatable: true },
  );
}
