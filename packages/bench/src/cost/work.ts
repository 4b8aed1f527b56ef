import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ledger, proveDelivery, registerShipment, subscribe } from "@owed/ledger";
import type { Stack } from "@owed/local/stack";
import type { Cloud } from "../with-cloud.ts";
import type { Usage } from "./bill.ts";
import { startMeter } from "./meter.ts";

/** Each event tells the buyer and the merchant's inbox. */
export const toldByEach = 2;

/** So many seconds are a minute here: events still come one by one, as they do at this rate. */
const minute = 6;

/** Seconds that nothing new is delivered until what is missing counts as lost. */
const patience = 60;

/** Minutes with so many events each, spread evenly, and a beat at the end of each. */
export async function work(
  { stack, ledger }: Cloud,
  minutes: number,
  events: number,
  progress: (done: number) => void,
): Promise<Usage> {
  const shipments = await register(ledger, minutes * events);
  const told = stack.ses.sent.length + shipments.length * toldByEach;
  const meter = await startMeter(stack, ledger);
  const beats = beatsOf(stack);
  const start = performance.now();
  for (const [place, shipment] of shipments.entries()) {
    await at(start + (place / events) * minute * 1000);
    await happen(stack, shipment);
    if ((place + 1) % events === 0) {
      await beats.beat();
      progress((place + 1) / events);
    }
  }
  await drained(stack, told, beats);
  return usageOf(await meter.read(), { minutes, events: shipments.length, beats });
}

/** An outage of so many minutes: events come and are recorded all the while, and then the schedule beats again. */
export async function recover(
  { stack, ledger }: Cloud,
  minutes: number,
  events: number,
  progress: (done: number) => void,
): Promise<Usage & { drained: number }> {
  const shipments = await register(ledger, minutes * events);
  const notifications = shipments.length * toldByEach;
  const told = stack.ses.sent.length + notifications;
  const { rows } = await proveDelivery(ledger);
  for (const [place, shipment] of shipments.entries()) {
    await happen(stack, shipment);
    if ((place + 1) % events === 0) progress((place + 1) / events);
  }
  await until(async () => (await proveDelivery(ledger)).rows - rows, notifications);
  const meter = await startMeter(stack, ledger);
  const beats = beatsOf(stack);
  const start = performance.now();
  await drained(stack, told, beats);
  const drainedIn = (performance.now() - start) / 1000;
  // Its events came before, and are none of the recovery's.
  const usage = usageOf(await meter.read(), { minutes: beats.count, events: 0, beats });
  return { ...usage, notifications, drained: drainedIn };
}

/** Minutes in which nothing is owed. */
export async function idle(
  { stack, ledger }: Cloud,
  minutes: number,
  progress: (done: number) => void,
): Promise<Usage> {
  const meter = await startMeter(stack, ledger);
  const beats = beatsOf(stack);
  for (let beat = 1; beat <= minutes; beat += 1) {
    await beats.beat();
    progress(beat);
  }
  return usageOf(await meter.read(), { minutes, events: 0, beats });
}

type Beats = { beat(): Promise<void>; readonly count: number; readonly seconds: number };

function beatsOf({ schedule }: Stack): Beats {
  let count = 0;
  let seconds = 0;
  return {
    async beat() {
      const start = performance.now();
      await schedule.trigger();
      seconds += (performance.now() - start) / 1000;
      count += 1;
    },
    get count() {
      return count;
    },
    get seconds() {
      return seconds;
    },
  };
}

const usageOf = (
  counted: Awaited<ReturnType<Awaited<ReturnType<typeof startMeter>>["read"]>>,
  { minutes, events, beats }: { minutes: number; events: number; beats: Beats },
): Usage => ({
  ...counted,
  notifications: events * toldByEach,
  minutes,
  customEvents: events,
  functions: { ...counted.functions, sweep: { invocations: beats.count, seconds: beats.seconds } },
});

/** Beats until so many emails have come in all, and their provider's events are weighed. Asks the ledger nothing. */
async function drained({ ses, sources }: Stack, emails: number, beats: Beats): Promise<void> {
  while (ses.sent.length < emails) {
    await beats.beat();
    await still(() => ses.sent.length, emails);
  }
  await still(() => sources.feedback.stats.deleted);
}

/** Waits until a count no longer moves, or is as high as it should be. */
async function still(count: () => number, enough = Number.POSITIVE_INFINITY): Promise<void> {
  for (let last = -1; count() !== last && count() < enough; await sleep(1000)) last = count();
}

async function until(count: () => Promise<number>, expected: number): Promise<void> {
  let moved = performance.now();
  for (let last = -1, now = await count(); now < expected; now = await count()) {
    if (now !== last) moved = performance.now();
    last = now;
    if (performance.now() - moved > patience * 1000)
      throw new Error(`only ${now} of ${expected} came, and no more for ${patience} s`);
    await sleep(100);
  }
}

async function at(moment: number): Promise<void> {
  const wait = moment - performance.now();
  if (wait > 0) await sleep(wait);
}

const happen = ({ bus }: Stack, shipment: string) =>
  bus.put({
    source: "platform",
    "detail-type": "shipment.status_changed",
    detail: {
      ...{ id: randomUUID(), shipment_id: shipment, status: "delivery_exception" },
      occurred_at: new Date().toISOString(),
    },
  });

async function register(ledger: Ledger, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `cost-${randomUUID()}`);
  for (const id of ids) {
    const watches = { shipmentId: id, channel: "email", locale: "en" } as const;
    await registerShipment(ledger, { id, trackingNumber: id, merchant: { id: "bench", name: "Bench" } });
    await subscribe(ledger, {
      ...{ ...watches, recipientId: "buyer", role: "buyer", address: "buyer@example.com", name: "Ann" },
    });
    await subscribe(ledger, {
      ...{ ...watches, recipientId: "inbox", role: "merchant", address: "inbox@shop.example", name: null },
    });
  }
  return ids;
}
