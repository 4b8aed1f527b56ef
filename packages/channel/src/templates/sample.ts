import type { SendRequest } from "../channel.ts";

/** A lifelike notification, changed as it is needed: what previews and checks show. */
export function sampleRequest(change: Partial<SendRequest> = {}): SendRequest {
  return {
    notificationId: "0198b1c2-7d3e-7a41-9c55-3f2a1b0c9d8e",
    template: "customs_hold",
    address: "ana.lind@example.org",
    name: "Ana Lind",
    locale: "en",
    timeZone: "Europe/Vienna",
    shipment: {
      id: "S-1001",
      trackingNumber: "RR123456785AT",
      status: "customs_hold",
      occurredAt: new Date("2026-03-12T14:05:00Z"),
    },
    merchant: {
      id: "shop-7",
      name: "Nordlicht Möbel",
      trackingUrl: "https://track.example/{tracking_number}",
    },
    role: "buyer",
    ...change,
  };
}
