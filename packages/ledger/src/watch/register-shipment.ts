import type { Ledger } from "../connect/ledger.ts";

export type Shipment = { id: string; trackingNumber: string; merchant: { id: string; name: string } };

/** Registers a shipment and its merchant, or corrects them. */
export async function registerShipment(
  ledger: Ledger,
  { id, trackingNumber, merchant }: Shipment,
): Promise<void> {
  await ledger.run(
    (sql) => sql`SELECT owed.register_shipment(${id}, ${merchant.id}, ${merchant.name}, ${trackingNumber})`,
    { repeatable: true },
  );
}
