import { randomUUID } from "node:crypto";
import postgres from "postgres";
import type { World } from "./world/world.ts";

/** What the world's events owe: by event, the recipients who must be told. */
export type Owed = Map<string, string[]>;

const roles = ["buyer", "merchant", "agent", "warehouse"] as const;

/** Shipments and what happens to them, by way of the bus. */
export class Traffic {
  readonly #world: World;
  readonly #shipments: { id: string; recipients: number }[] = [];
  readonly owed: Owed = new Map();

  constructor(world: World) {
    this.#world = world;
  }

  /** New shipments, each watched by so many, and an event of each. The database must be up. */
  async owe(shipments: number, recipients: number): Promise<void> {
    const { sql } = this.#world.database;
    try {
      await this.#register(sql, shipments, recipients);
    } catch (error) {
      // The platform meets what is wrong with the database as well, and then nothing has happened.
      if (!(error instanceof postgres.PostgresError)) throw error;
    }
  }

  async #register(sql: postgres.Sql, shipments: number, recipients: number): Promise<void> {
    const batch = randomUUID().slice(0, 8);
    for (let place = 0; place < shipments; place += 1) {
      const id = `S-${batch}-${place}`;
      await sql`SELECT owed.register_shipment(${id}, 'M-1', 'Shop', ${`T-${id}`})`;
      for (const [nth, role] of roles.slice(0, recipients).entries())
        await sql`SELECT owed.subscribe(${id}, ${`R-${nth}`}, ${role}, 'email', ${`${role}.${id}@example.com`}, ${role})`;
      this.#shipments.push({ id, recipients });
      await this.#happen(id, recipients, "delivery_exception");
    }
  }

  /** Something newer happens to one of the shipments that there are. */
  async happenAgain(place: number): Promise<void> {
    const shipment = this.#shipments[place % this.#shipments.length];
    if (shipment) await this.#happen(shipment.id, shipment.recipients, "delivery_exception");
  }

  /** An event that nobody can record: it is refused and kept. */
  async refuse(): Promise<void> {
    await this.#world.bus.put(shipmentEvent({ id: randomUUID(), shipment_id: "S-none", status: "melted" }));
  }

  async #happen(shipment: string, recipients: number, status: string): Promise<void> {
    const id = `E-${randomUUID()}`;
    this.owed.set(
      id,
      Array.from({ length: recipients }, (_, nth) => `R-${nth}`),
    );
    await this.#world.bus.put(shipmentEvent({ id, shipment_id: shipment, status }));
  }
}

const shipmentEvent = (detail: { id: string; shipment_id: string; status: string }) => ({
  source: "platform",
  "detail-type": "shipment.status_changed",
  detail: { ...detail, occurred_at: new Date().toISOString() },
});
