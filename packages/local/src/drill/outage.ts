import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ledger, proveDelivery, registerShipment, subscribe } from "@owed/ledger";
import type { Stack } from "../stack.ts";
import { standStill } from "./stand-still.ts";

export type Outage = {
  stack: Stack;
  ledger: Ledger;
  /** Notifications that must be owed when the schedule is resumed. */
  rows: number;
  /** Seconds that the events of a quarter of an hour take to come in. */
  seconds: number;
  /** Called with how many notifications are owed so far. */
  progress: (owed: number) => void;
};

/** Each event tells two: the buyer, and the merchant's inbox. */
const toldByEach = 2;

/** Seconds without a new notification after which the events that are still missing count as lost. */
const patience = 60;

/**
 * Fifteen minutes' worth of events while the schedule is paused: they come by way of the bus, the event queue
 * and ingest, and the ledger fills. Resolves once every event is recorded, or no more come: with how many
 * notifications they owe, and how many the ledger has.
 */
export async function sufferOutage({
  stack,
  ledger,
  rows,
  seconds,
  progress,
}: Outage): Promise<{ expected: number; owed: number }> {
  await standStill(stack, ledger);
  const shipments = await registerShipments(ledger, Math.ceil(rows / toldByEach));
  const report = async () => progress((await owedSoFar(ledger)) ?? 0);
  const expected = await happen(stack, shipments, seconds, report);
  let owed = 0;
  for (let moved = performance.now(); owed < expected && performance.now() - moved < patience * 1000; ) {
    await sleep(200);
    const now = (await owedSoFar(ledger)) ?? owed;
    if (now > owed) moved = performance.now();
    owed = now;
    progress(owed);
  }
  return { expected, owed };
}

/** An event of each shipment, spread over so many seconds; returns how many notifications they owe. */
export async function happen(
  stack: Stack,
  shipments: readonly string[],
  seconds: number,
  report: () => Promise<void> = async () => {},
): Promise<number> {
  const started = performance.now();
  for (const [place, shipmentId] of shipments.entries()) {
    const due = started + (place / shipments.length) * seconds * 1000;
    if (due > performance.now() + 5) await sleep(due - performance.now());
    const occurred_at = new Date().toISOString();
    await stack.bus.put({
      source: "platform",
      "detail-type": "shipment.status_changed",
      detail: {
        id: `drill-${randomUUID()}`,
        shipment_id: shipmentId,
        status: "delivery_exception",
        occurred_at,
      },
    });
    if (place % 500 === 0) await report();
  }
  return shipments.length * toldByEach;
}

/** Null while the database is away, as a drill may want it. */
export const owedSoFar = async (ledger: Ledger): Promise<number | null> => {
  try {
    return (await proveDelivery(ledger)).unfinished;
  } catch {
    return null;
  }
};

/** New shipments, each with a buyer and the merchant's inbox to be told; returns their ids. */
export async function registerShipments(ledger: Ledger, count: number): Promise<string[]> {
  const drill = randomUUID().slice(0, 8);
  const ids = Array.from({ length: count }, (_, place) => `drill-${drill}-${place}`);
  const merchant = { id: "drill", name: "Drill & Sons" };
  const register = async (id: string, place: number) => {
    const common = { shipmentId: id, channel: "email", locale: "en" } as const;
    await registerShipment(ledger, { id, trackingNumber: `DR${place}`, merchant });
    await subscribe(ledger, {
      ...common,
      recipientId: `buyer-${place}`,
      role: "buyer",
      address: `buyer${place}@example.com`,
      name: `Buyer ${place}`,
    });
    await subscribe(ledger, {
      ...common,
      recipientId: "inbox",
      role: "merchant",
      address: "inbox@drill.example",
      name: null,
    });
  };
  for (let from = 0; from < ids.length; from += 50)
    await Promise.all(ids.slice(from, from + 50).map((id, place) => register(id, from + place)));
  return ids;
}
