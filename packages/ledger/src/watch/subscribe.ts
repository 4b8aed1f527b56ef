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
};

/** Has a recipient told about a shipment on a channel, or corrects the address, name and locale of one who is. */
export async function subscribe(ledger: Ledger, subscriber: Subscriber): Promise<void> {
  const { shipmentId, recipientId, role, channel, address, name, locale } = subscriber;
  await ledger.run(
    (sql) =>
      sql`SELECT owed.subscribe(${shipmentId}, ${recipientId}, ${role}, ${channel}, ${address}, ${name}, ${locale})`,
    { repeatable: true },
  );
}
