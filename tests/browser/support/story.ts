import { pause, resume, setRule } from "@owed/ledger";
import { expect } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { passTime } from "../../support/time.ts";
import { happenTo, registerParcel } from "./parcels.ts";
import type { Site } from "./site.ts";

/** Where a page shows it as anything but text, it changes the title of that page. */
export const hostile = `<img src="x" onerror="document.title='run'"><script>document.title='run'</script>`;

/** What can be looked for: shipments, by what became of their buyers' notifications. */
export const parcels = {
  told: "P-TOLD",
  hostile: "P-HOSTILE",
  dead: "P-DEAD",
  unknown: "P-UNKNOWN",
  bounced: "P-BOUNCED",
} as const;

/** Who gets notifications of two shipments. */
export const stranger = "stranger-1";

/** SES's mailbox simulator: it bounces for good. */
const bounces = "bounce@simulator.amazonses.com";

/**
 * One of everything that the pages show: told, dead, unknown and held, bounced and suppressed, an event that was refused,
 * and an outage that is over. Whatever a stranger could have written is hostile.
 */
export async function tellStory(site: Site): Promise<void> {
  await register(site);
  await misbehave(site);
  await happenTo(site.stack, Object.values(parcels), "out_for_delivery");
  await happenTo(site.stack, [parcels.told], hostile);
  await states(site, { [parcels.told]: "delivered", [parcels.hostile]: "delivered", [parcels.dead]: "dead" });
  await states(site, { [parcels.bounced]: "delivered", [parcels.unknown]: "unknown" });
  await pause(site.ledger, hostile, hostile);
  await happenTo(site.stack, [parcels.told], "delivered");
  await eventually(async () => expect(await site.sql`SELECT FROM owed.event`).toHaveLength(6));
  await passTime(site.sql, 300);
  await resume(site.ledger, { actor: "ana", why: null });
  await eventually(async () => {
    const waiting = await site.sql`
      SELECT FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
      WHERE e.shipment_id LIKE 'P-%' AND n.owed_at IS NOT NULL`;
    expect(waiting).toEqual([]);
    expect(await site.sql`SELECT FROM owed.suppression`).toHaveLength(1);
    expect(await site.sql`SELECT FROM owed.refused_event`).toHaveLength(1);
  });
}

async function register({ ledger }: Site): Promise<void> {
  const buyer = (name: string, email: string) => ({ id: `buyer-${name.toLowerCase()}`, name, email });
  const held = { id: "holds", name: "Holds what is unknown" };
  await registerParcel(ledger, { id: parcels.told, buyer: buyer("Ada", "ada@example.com") });
  await registerParcel(ledger, {
    id: parcels.hostile,
    merchant: { id: "hostile", name: hostile },
    buyer: { id: stranger, name: hostile, email: "hostile@example.com" },
  });
  await registerParcel(ledger, {
    id: parcels.dead,
    merchant: { id: "hostile", name: hostile },
    buyer: { id: stranger, name: hostile, email: "dead@example.com" },
  });
  await registerParcel(ledger, {
    id: parcels.unknown,
    merchant: held,
    buyer: buyer("Cleo", "unknown@example.com"),
  });
  await registerParcel(ledger, { id: parcels.bounced, buyer: buyer("Dan", bounces) });
  await setRule(
    ledger,
    {
      ...{ merchantId: held.id, status: "out_for_delivery", role: "buyer", channel: "email" },
      ...{
        template: "out_for_delivery",
        delay: 0,
        atTime: null,
        sendWithin: 86_400,
        onlyWhileCurrent: false,
      },
      ...{ newestReplaces: false, onUnknown: "hold", silent: false },
    },
    { actor: "test", why: "a person decides" },
  );
}

async function misbehave({ stack }: Site): Promise<void> {
  stack.ses.faults.add(({ to }) => {
    const address = to.join();
    if (address.includes("dead@"))
      return { error: { status: 400, code: "MessageRejected", message: hostile } };
    if (address.includes("unknown@")) return { drop: "after", noEvent: true };
    return undefined;
  });
}

/** Waits until the buyers' notifications of these shipments are so. */
export const states = (site: Site, wanted: Record<string, string>): Promise<void> =>
  eventually(async () => {
    const rows = await site.sql<{ id: string; state: string }[]>`
      SELECT DISTINCT e.shipment_id AS id, n.state FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
      WHERE e.shipment_id = ANY(${Object.keys(wanted)})`;
    expect(Object.fromEntries(rows.map(({ id, state }) => [id, state]))).toEqual(wanted);
  });
