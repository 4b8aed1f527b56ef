import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ledger, registerShipment, subscribe } from "@owed/ledger";
import type { Stack } from "@owed/local/stack";
import { now } from "./watch.ts";

/** Shipments that are registered at a time. */
const atOnce = 20;

/** Registers so many shipments, each watched by its buyer, by email. Returns their ids. */
export async function register(ledger: Ledger, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `latency-${randomUUID()}`);
  const one = async (id: string) => {
    await registerShipment(ledger, { id, trackingNumber: id, merchant: { id: "bench", name: "Bench" } });
    await subscribe(ledger, {
      ...{ shipmentId: id, recipientId: "buyer", role: "buyer", channel: "email" },
      ...{ address: "buyer@example.com", name: "Ann", locale: "en" },
    });
  };
  for (let from = 0; from < count; from += atOnce) await Promise.all(ids.slice(from, from + atOnce).map(one));
  return ids;
}

/**
 * Puts one event for each shipment on the bus, so many a second, each at its time whatever became of those before.
 * Returns when each was put, by the event's id, in milliseconds since the epoch.
 */
export async function putEvents(
  { bus }: Stack,
  shipments: readonly string[],
  rate: number,
  progress: (put: number) => void,
): Promise<Map<string, number>> {
  const put = new Map<string, number>();
  const start = performance.now();
  for (const [place, shipment] of shipments.entries()) {
    const wait = start + (place / rate) * 1000 - performance.now();
    if (wait > 0) await sleep(wait);
    const id = randomUUID();
    put.set(id, now());
    await bus.put({
      ...{ source: "platform", "detail-type": "shipment.status_changed" },
      detail: {
        ...{ id, shipment_id: shipment, status: "delivery_exception" },
        occurred_at: new Date().toISOString(),
      },
    });
    progress(place + 1);
  }
  return put;
}
