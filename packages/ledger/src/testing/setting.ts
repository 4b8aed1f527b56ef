import { randomUUID } from "node:crypto";
import type { TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import { fresh, type ModelRow } from "./model-row.ts";
import { empty, revive } from "./rows.ts";

export type Counters = { rescues: number; resends: number };

/**
 * What a history begins with, in the ledger and as the model has it: an older and a newer status for one
 * recipient, a row whose merchant has an unknown outcome held and that is never too late, and a follow-up after
 * an hour.
 */
export async function owe(database: TestDatabase, counters: Counters): Promise<ModelRow[]> {
  const { sql } = database;
  await empty(database);
  const [two, held, later] = await Promise.all([1, 2, 3].map(() => registerShipment(database)));
  if (!two || !held || !later) throw new Error("no shipments");
  for (const [shipment, merchant] of Object.entries({ [held]: "M-held", [later]: "M-later" })) {
    await sql`INSERT INTO owed.merchant VALUES (${merchant}, 'Shop') ON CONFLICT DO NOTHING`;
    await sql`UPDATE owed.shipment SET merchant_id = ${merchant} WHERE id = ${shipment}`;
  }
  await sql`
    INSERT INTO owed.rule (merchant_id, status, role, channel, template, delay_s, send_within_s, on_unknown) VALUES
      ('M-held', 'picked_up', 'buyer', 'email', 'picked_up', 0, NULL, 'hold'),
      ('M-later', 'picked_up', 'buyer', 'email', 'picked_up', 3600, 86400, 'resend') ON CONFLICT DO NOTHING`;
  // An address of its own for each recipient.
  await sql`UPDATE owed.subscriber SET address = 'Buyer-' || shipment_id || '@example.com'`;
  const older = await add(two, "picked_up", { sendBy: 2 * 86400 });
  const newer = await add(two, "out_for_delivery", { sendBy: 86400 });
  older.newer.push(newer);
  await revive(database, older.id);
  const rows = [
    older,
    newer,
    await add(held, "picked_up", { onUnknown: "hold" }),
    await add(later, "picked_up", { sendBy: 86400, owedAt: 3600 }),
  ];
  await sql`UPDATE owed.notification SET rescues = ${counters.rescues}, resends = ${counters.resends}`;
  return rows.map((row) => Object.assign(row, counters));

  async function add(shipment: string, status: string, given: Partial<ModelRow>): Promise<ModelRow> {
    const event = `E-${randomUUID()}`;
    await sql`SELECT owed.record_event(${event}, ${shipment}, ${status}, clock_timestamp())`;
    const [row] = await sql<{ id: string }[]>`
      SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key WHERE e.id = ${event}`;
    if (!row) throw new Error("the event owes nobody a notification");
    return { ...fresh(row.id), ...given };
  }
}
