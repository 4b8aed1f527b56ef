import { randomUUID } from "node:crypto";

// What happens in the storm, made up beforehand: who watches which shipment, and what happens to it in which minute. The
// same seed makes the same storm.

export type Watcher = {
  recipientId: string;
  role: "buyer" | "merchant" | "agent";
  channel: "email" | "sms" | "webhook";
  /** Null: nobody has told it. */
  address: string | null;
};

export type Shipment = { id: string; merchantId: string; watchers: Watcher[] };

/** `minute`: since the schedule stopped. */
export type Happening = { minute: number } & (
  | { kind: "event"; id: string; shipmentId: string; status: string }
  | { kind: "opt_out"; shipmentId: string; recipientId: string; channel: string }
  | { kind: "stop"; number: string }
);

export type Plan = { shipments: Shipment[]; happenings: Happening[]; events: number };

export const merchants = ["storm-a", "storm-b"] as const;

/** Minutes that the schedule does not run. */
export const outage = 70;

/** The ways that shipments go. */
const ways: readonly (readonly string[])[] = [
  ["picked_up", "out_for_delivery", "delivered"],
  ["picked_up", "customs_hold", "customs_released", "out_for_delivery"],
  ["picked_up", "customs_hold"],
  ["picked_up", "out_for_delivery", "delivery_exception", "out_for_delivery", "delivered"],
  ["picked_up", "out_for_delivery", "delivery_exception", "returned"],
  ["picked_up", "out_for_delivery"],
  ["customs_hold", "customs_released"],
];

export function planStorm(count: number, random: () => number, inboxOf: (merchant: string) => string): Plan {
  const storm = randomUUID().slice(0, 8);
  const chance = (share: number) => random() < share;
  const pick = <T>(choices: readonly T[], fallback: T): T =>
    choices[Math.floor(random() * choices.length)] ?? fallback;

  const shipments: Shipment[] = [];
  const happenings: Happening[] = [];
  let events = 0;
  for (let place = 0; place < count; place += 1) {
    const id = `storm-${storm}-${place}`;
    const merchantId = pick(merchants, merchants[0]);
    const buyer = `buyer-${place}`;
    const number = chance(0.02) ? "+49" : `+4915${String(100_000_000 + place)}`;
    const watchers: Watcher[] = [
      {
        recipientId: buyer,
        role: "buyer",
        channel: "email",
        address: chance(0.01) ? null : `${buyer}@example.com`,
      },
    ];
    const bySms = chance(0.3);
    if (bySms) watchers.push({ recipientId: buyer, role: "buyer", channel: "sms", address: number });
    watchers.push(
      chance(0.2)
        ? { recipientId: merchantId, role: "merchant", channel: "webhook", address: inboxOf(merchantId) }
        : {
            recipientId: merchantId,
            role: "merchant",
            channel: "email",
            address: `inbox@${merchantId}.example`,
          },
    );
    if (chance(0.2))
      watchers.push({
        recipientId: "agent-7",
        role: "agent",
        channel: "email",
        address: "agent7@owed.example",
      });
    shipments.push({ id, merchantId, watchers });

    const way = pick(ways, ["picked_up"]);
    const minutes = way.map(() => random() * (outage - 1)).sort((a, b) => a - b);
    for (const [step, status] of way.entries()) {
      const minute = minutes[step] ?? 0;
      happenings.push({ kind: "event", minute, id: `${id}-${step}`, shipmentId: id, status });
      events += 1;
    }
    if (chance(0.03))
      happenings.push({
        ...{ kind: "opt_out", minute: random() * outage, shipmentId: id },
        ...{ recipientId: buyer, channel: "email" },
      });
    if (bySms && chance(0.03)) happenings.push({ kind: "stop", minute: random() * outage, number });
  }
  return { shipments, happenings: happenings.toSorted((a, b) => a.minute - b.minute), events };
}
