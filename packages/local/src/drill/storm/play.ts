import { setTimeout as sleep } from "node:timers/promises";
import { type Ledger, optOut, registerShipment, subscribe } from "@owed/ledger";
import type { Stack } from "../../stack.ts";
import type { Happening, Plan, Shipment } from "./plan.ts";

/** Registers the shipments and who watches them. */
export async function register(
  ledger: Ledger,
  shipments: readonly Shipment[],
  progress: (done: number) => void,
): Promise<void> {
  const one = async ({ id, merchantId, watchers }: Shipment) => {
    await registerShipment(ledger, {
      id,
      trackingNumber: id.slice(6),
      merchant: { id: merchantId, name: merchantId },
    });
    for (const watcher of watchers)
      await subscribe(ledger, { ...watcher, shipmentId: id, name: null, locale: "en" });
  };
  for (let from = 0; from < shipments.length; from += 50) {
    await Promise.all(shipments.slice(from, from + 50).map(one));
    progress(from);
  }
}

/** Lets everything happen in its minute; what comes late comes at once. `minute`: seconds that stand for one. */
export async function play(
  { stack, ledger }: { stack: Stack; ledger: Ledger },
  { happenings }: Plan,
  minute: number,
  progress: (minute: number) => void,
): Promise<void> {
  const started = performance.now();
  for (const happening of happenings) {
    const due = started + happening.minute * minute * 1000;
    if (due > performance.now() + 5) {
      progress(happening.minute);
      await sleep(due - performance.now());
    }
    await happen(happening);
  }

  async function happen(happening: Happening): Promise<void> {
    switch (happening.kind) {
      case "event":
        return stack.bus.put({
          source: "platform",
          "detail-type": "shipment.status_changed",
          detail: {
            id: happening.id,
            shipment_id: happening.shipmentId,
            status: happening.status,
            occurred_at: new Date().toISOString(),
          },
        });
      case "opt_out":
        return void (await optOut(ledger, happening));
      case "stop":
        return stack.sms.receive(happening.number, "STOP");
    }
  }
}
