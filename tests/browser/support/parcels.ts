import { randomUUID } from "node:crypto";
import { type Ledger, registerShipment, type Subscriber, subscribe } from "@owed/ledger";
import type { Stack } from "../../../packages/local/src/stack.ts";

export const merchant = { id: "nordlicht", name: "Nordlicht Keramik" };

export type Parcel = {
  id: string;
  merchant?: { id: string; name: string };
  buyer: { id: string; name: string; email: string | null; phone?: string };
  locale?: string;
};

/** A shipment whose buyer is told by email, and by text where there is a number. */
export async function registerParcel(ledger: Ledger, parcel: Parcel): Promise<void> {
  const { id, buyer, locale = "en" } = parcel;
  await registerShipment(ledger, { id, trackingNumber: id, merchant: parcel.merchant ?? merchant });
  const watcher: Omit<Subscriber, "channel" | "address"> = {
    ...{ shipmentId: id, recipientId: buyer.id, role: "buyer", name: buyer.name, locale },
  };
  await subscribe(ledger, { ...watcher, channel: "email", address: buyer.email });
  if (buyer.phone) await subscribe(ledger, { ...watcher, channel: "sms", address: buyer.phone });
}

/** So many shipments, each with a buyer of its own who gets emails; returns their ids. */
export async function registerBuyers(ledger: Ledger, count: number): Promise<string[]> {
  const batch = randomUUID().slice(0, 8).toUpperCase();
  const ids = Array.from({ length: count }, (_, place) => `OW-${batch}-${place + 1}`);
  const register = (id: string, place: number) =>
    registerParcel(ledger, {
      id,
      buyer: { id: `buyer-${id}`, name: `Buyer ${place + 1}`, email: `${id.toLowerCase()}@example.com` },
    });
  for (let from = 0; from < count; from += 20)
    await Promise.all(ids.slice(from, from + 20).map((id, place) => register(id, from + place)));
  return ids;
}

/** Lets the same happen to each of them, by way of the bus. */
export async function happenTo({ bus }: Stack, shipments: readonly string[], status: string): Promise<void> {
  for (const shipment_id of shipments)
    await bus.put({
      source: "platform",
      "detail-type": "shipment.status_changed",
      detail: { id: `evt-${randomUUID()}`, shipment_id, status, occurred_at: new Date().toISOString() },
    });
}
