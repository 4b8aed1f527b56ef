import type { SendRequest } from "../channel.ts";
import { createSesClient, type SesClientOptions } from "./client.ts";

/** A lifelike notification for tests, changed as the test needs it. */
export function aRequest(change: Partial<SendRequest> = {}): SendRequest {
  return {
    notificationId: "0198b1c2-7d3e-7a41-9c55-3f2a1b0c9d8e",
    template: "customs_hold",
    address: "ana.lind@example.org",
    name: "Ana Lind",
    locale: "en",
    timeZone: null,
    shipment: {
      id: "shp_81",
      trackingNumber: "RR123456785AT",
      status: "customs_hold",
      occurredAt: new Date("2026-03-12T14:05:00Z"),
    },
    merchant: { id: "mer_7", name: "Nordlicht Möbel", trackingUrl: null },
    role: "buyer",
    ...change,
  };
}

export function aClient(endpoint: string, options: SesClientOptions = {}) {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return createSesClient({ region: "eu-central-1", endpoint, credentials, ...options });
}
