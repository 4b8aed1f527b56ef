import {
  cancel,
  closeChannel,
  listDeadLettered,
  NotAllowed,
  noteRedrive,
  openChannel,
  replay,
  resolveAsSent,
} from "@owed/ledger";
import type { Simulation } from "./simulation.ts";
import { type Shipment, world as watched } from "./world.ts";

export const act = { actor: "somebody", why: "to see" };

/** The nth of the rows in these states; of one that was cancelled by a person or ended nothing is asked. */
async function pick({ sql }: Simulation, nth: number, states: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT n.id FROM owed.notification n JOIN audit.known k ON k.id = n.id
    WHERE n.state IN ${sql(states)} ORDER BY k.key, n.id`;
  const row = rows[nth % Math.max(1, rows.length)];
  return row ? [row.id] : [];
}

const unlessRefused = async (operation: Promise<unknown>): Promise<void> => {
  await operation.catch((error: unknown) => {
    if (!(error instanceof NotAllowed)) throw error;
  });
};

export async function replayOne(
  world: Simulation,
  nth: number,
  kind: "replayed" | "redriven",
): Promise<void> {
  await replay(world.ledger, await pick(world, nth, ["dead", "unknown"]), act, kind);
}

export async function cancelOne(world: Simulation, nth: number): Promise<void> {
  const states = ["pending", "leased", "queued", "sending", "unknown", "dead"];
  for (const id of await pick(world, nth, states)) await unlessRefused(cancel(world.ledger, id, act));
}

export async function resolveOne(world: Simulation, nth: number): Promise<void> {
  for (const id of await pick(world, nth, ["dead", "unknown"]))
    await unlessRefused(resolveAsSent(world.ledger, id, act));
}

/** SQS's own redrive of the dead letters, as the console starts it, and the note of it. */
export async function redrive(world: Simulation): Promise<void> {
  if (world.notifications.dead.length === 0) return;
  // What died in this very millisecond would look like a sibling of the message that comes back.
  await world.pass(1, { beating: true });
  const { ids, at } = await listDeadLettered(world.ledger, 1000);
  world.times.redriven += 1;
  world.notifications.redrive();
  await world.sql`INSERT INTO audit.change (note) VALUES ('redrive')`;
  await noteRedrive(world.ledger, ids, { at, ...act });
}

export async function optOut({ sql }: Simulation, shipment: Shipment): Promise<void> {
  const [recipient] = watched[shipment].recipients;
  await sql`SELECT owed.opt_out(${shipment}, ${recipient}, 'email')`;
}

export const close = (world: Simulation) => closeChannel(world.ledger, "email", act);
export const open = (world: Simulation) =>
  openChannel(world.ledger, "email", { actor: "ana", why: "mended" });
