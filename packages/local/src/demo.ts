import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ledger, type Role, registerShipment, setRule, subscribe } from "@owed/ledger";
import type { Bus } from "./bus.ts";

const merchants = [
  { id: "nordlicht", name: "Nordlicht Keramik" },
  { id: "casa-lume", name: "Casa Lume" },
  { id: "bayt-al-qahwa", name: "Bayt al-Qahwa" },
];

const buyers = [
  { name: "Ines Almeida", address: "ines.almeida@example.com", phone: "+351912345678", locale: "en" },
  { name: "Jürgen Weiß", address: "juergen.weiss@example.de", phone: "+4915112345678", locale: "de-DE" },
  { name: "Amélie Lefèvre", address: "amelie@bücher.example", phone: null, locale: "fr-FR" },
  { name: "ليلى حداد", address: "layla.haddad@example.ae", phone: "+971501234567", locale: "ar" },
  { name: "Sam O'Neill 📦", address: "sam.oneill@example.ie", phone: null, locale: "en-IE" },
  { name: "Nguyễn Thị Hoa", address: "hoa.nguyen@example.vn", phone: null, locale: "vi" },
];

/** What is owed to her dies. */
const mistyped = { name: "Pat Doyle", address: "pat.doyle@example..ie", phone: null, locale: "en-IE" };

/** What may happen to a shipment next, from where it is. */
const next: Record<string, readonly string[]> = {
  registered: ["picked_up"],
  picked_up: ["customs_hold", "out_for_delivery", "out_for_delivery"],
  customs_hold: ["customs_released"],
  customs_released: ["out_for_delivery"],
  out_for_delivery: ["delivered", "delivered", "delivered", "delivery_exception"],
  delivery_exception: ["out_for_delivery", "returned"],
};

export type DemoOptions = {
  ledger: Ledger;
  bus: Bus;
  /** The address of a merchant's webhook inbox. */
  inboxOf: (merchantId: string) => string;
  /** Seconds between two events. */
  every: number;
  /** Seconds after which "still held at customs" is due: minutes stand for the product's day. */
  followUp: number;
  /** Some buyers' addresses are mistyped, so that there are dead letters to look at. */
  deadLetters?: boolean;
};

export type Demo = {
  /**
   * Lets exactly so many events happen now, each to another shipment, of which new ones are registered when there are
   * too few. Resolves when the bus has them.
   */
  happen(events: number): Promise<void>;
  stop(): Promise<void>;
};

/** Shipments on their way at least. */
const least = 30;

type Shipment = { id: string; status: string; heldUntil: number };

/**
 * A small platform at work: shipments of three merchants whose events keep coming until `stop`. What it does to
 * the ledger is what a real platform does: it registers shipments and who watches them, and puts events on the bus.
 */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { ledger, bus, every, followUp } = options;
  const stopping = new AbortController();
  let shipments: Shipment[] = [];
  const registerMore = async (count: number): Promise<Shipment[]> => {
    const more = await Promise.all(Array.from({ length: count }, () => register(options)));
    shipments.push(...more);
    return more;
  };

  /** The shipment goes on; returns the event that tells so. */
  const move = (shipment: Shipment) => {
    const status = pick(next[shipment.status] ?? []);
    shipment.status = status;
    // Held at customs for long enough that the follow-up falls due for some.
    if (status === "customs_hold") shipment.heldUntil = performance.now() + randomInt(2 * followUp) * 1000;
    return {
      source: "platform",
      "detail-type": "shipment.status_changed",
      detail: {
        id: `evt-${randomUUID()}`,
        shipment_id: shipment.id,
        status,
        occurred_at: new Date().toISOString(),
      },
    };
  };

  const happen = async (count: number) => {
    const able = shuffled(shipments.filter(({ heldUntil }) => heldUntil <= performance.now()));
    // Whoever lets something happen meanwhile finds these where they have gone to.
    const events = able.slice(0, count).map(move);
    // The journeys that have ended are over.
    shipments = shipments.filter(({ status }) => next[status]);
    const fresh = await registerMore(Math.max(count - events.length, least - shipments.length));
    events.push(...fresh.slice(0, count - events.length).map(move));
    for (const event of events) await bus.put(event);
  };

  await registerMore(least);
  for (const merchant of merchants) await shortenFollowUps(ledger, merchant.id, followUp);
  const running = (async () => {
    while (!stopping.signal.aborted) {
      // A database that is down for a while stops the registrations, not the demo.
      await happen(1).catch(() => {});
      await sleep(every * 1000, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    happen,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

const shuffled = <T>(of: readonly T[]): T[] =>
  of
    .map((value) => ({ value, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ value }) => value);

const pick = <T>(choices: readonly [T, ...T[]] | readonly T[]): T => {
  const choice = choices[randomInt(choices.length)];
  if (choice === undefined) throw new Error("nothing to choose from");
  return choice;
};

async function register({ ledger, inboxOf, deadLetters }: DemoOptions): Promise<Shipment> {
  // The number that stands in the emails is the shipment's id as well, so that one leads to the other.
  const id = `OW-${randomUUID().slice(0, 8).toUpperCase()}`;
  const merchant = pick(merchants);
  const buyer = deadLetters && randomInt(20) === 0 ? mistyped : pick(buyers);
  await registerShipment(ledger, { id, trackingNumber: id, merchant });
  const watch = (
    role: Role,
    recipientId: string,
    channel: string,
    { address, name, locale }: { address: string; name: string; locale: string },
  ) => subscribe(ledger, { shipmentId: id, recipientId, role, channel, address, name, locale });
  const recipient = `buyer-${randomUUID().slice(0, 8)}`;
  await watch("buyer", recipient, "email", buyer);
  if (buyer.phone) await watch("buyer", recipient, "sms", { ...buyer, address: buyer.phone });
  const shop = { name: merchant.name, locale: "en" };
  await watch("merchant", merchant.id, "email", { ...shop, address: `support@${merchant.id}.example` });
  await watch("merchant", merchant.id, "webhook", { ...shop, address: inboxOf(merchant.id) });
  if (randomInt(3) === 0)
    await watch("agent", "agent-7", "email", {
      address: "agent.seven@owed.example",
      name: "Agent Seven",
      locale: "en",
    });
  if (randomInt(4) === 0)
    await watch("warehouse", "hub-3", "email", { address: "hub3@owed.example", name: "Hub 3", locale: "de" });
  return { id, status: "registered", heldUntil: 0 };
}

async function shortenFollowUps(ledger: Ledger, merchantId: string, followUp: number): Promise<void> {
  const act = { actor: "demo", why: "minutes stand for a day" };
  const rule = {
    merchantId,
    status: "customs_hold",
    channel: "email",
    atTime: null,
    sendWithin: 7 * 86_400,
    newestReplaces: true,
    onUnknown: "resend",
    silent: false,
  } as const;
  for (const role of ["buyer", "agent"] as const) {
    const told = { ...rule, role };
    await setRule(ledger, { ...told, template: "customs_hold", delay: 0, onlyWhileCurrent: false }, act);
    await setRule(
      ledger,
      { ...told, template: "customs_hold.still", delay: followUp, onlyWhileCurrent: true },
      act,
    );
  }
}
