import { randomUUID } from "node:crypto";
import { type Rule, recordEvents, setRule } from "@owed/ledger";
import type { TestDatabase } from "./database.ts";

/** Registers a shipment with one subscriber a role given, by email. Returns its id. */
export async function registerShipment(
  { sql }: Pick<TestDatabase, "sql">,
  roles: readonly string[] = ["buyer"],
  id = `S-${randomUUID()}`,
): Promise<string> {
  await sql`SELECT owed.register_shipment(${id}, 'M-1', 'Shop', ${`T-${id.slice(0, 40)}`})`;
  for (const role of roles)
    await sql`SELECT owed.subscribe(${id}, ${`${role}-1`}, ${role}, 'email', ${`${role}@example.com`}, ${role})`;
  return id;
}

/** Has a shipment's buyer told every update by email: no newer one replaces what is not sent yet. */
export async function tellEveryUpdate(
  { ledger, sql }: Pick<TestDatabase, "ledger" | "sql">,
  shipmentId: string,
  statuses: readonly string[] = ["out_for_delivery"],
): Promise<void> {
  const merchantId = "M-every-update";
  await sql`INSERT INTO owed.merchant (id, name) VALUES (${merchantId}, 'Shop') ON CONFLICT DO NOTHING`;
  await sql`UPDATE owed.shipment SET merchant_id = ${merchantId} WHERE id = ${shipmentId}`;
  for (const status of statuses) {
    const rule: Omit<Rule, "id"> = {
      ...{ merchantId, status, role: "buyer", channel: "email", template: status },
      ...{ delay: 0, atTime: null, sendWithin: 86_400, onlyWhileCurrent: false, newestReplaces: false },
      ...{ onUnknown: "resend", silent: false },
    };
    await setRule(ledger, rule, { actor: "test", why: "every update is told" });
  }
}

/** Records an event that occurred `ago` seconds ago; returns its id. */
export async function happen(
  { ledger }: Pick<TestDatabase, "ledger">,
  shipmentId: string,
  status: string,
  ago = 0,
): Promise<string> {
  const id = `E-${randomUUID()}`;
  const occurredAt = new Date(Date.now() - ago * 1000).toISOString();
  const [answer] = await recordEvents(ledger, [{ id, shipmentId, status, occurredAt }]);
  if (answer?.outcome !== "recorded")
    throw new Error(`the event was not recorded: ${JSON.stringify(answer)}`);
  return id;
}

/** Owes `rows` notifications to as many shipments' buyers, one event each. Returns the shipments' ids. */
export async function owe(
  database: Pick<TestDatabase, "sql">,
  rows: number,
  status = "out_for_delivery",
): Promise<string[]> {
  const batch = randomUUID().slice(0, 8);
  const { sql } = database;
  await sql`
    SELECT owed.register_shipment(id, 'M-1', 'Shop', 'T-' || n), owed.subscribe(id, 'buyer-1', 'buyer', 'email', 'buyer' || n || '@example.com')
    FROM (SELECT n, 'S-' || ${batch}::text || '-' || n AS id FROM generate_series(1, ${rows}::int) n) AS shipment`;
  const shipments = await sql<{ id: string }[]>`
    SELECT id FROM owed.shipment WHERE starts_with(id, ${`S-${batch}-`}) ORDER BY split_part(id, '-', 3)::int`;
  await sql`
    SELECT owed.record_event('E-' || id, id, ${status}, clock_timestamp())
    FROM (SELECT id FROM owed.shipment WHERE starts_with(id, ${`S-${batch}-`}) ORDER BY split_part(id, '-', 3)::int) AS s`;
  return shipments.map((shipment) => shipment.id);
}
