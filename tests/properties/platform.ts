import type { CommandOf } from "./commands.ts";
import type { Event, Simulation } from "./simulation.ts";

/** A shipment's status changes, and the platform tells it. */
export function happen(world: Simulation, { shipment, status, ago }: CommandOf<"event">): void {
  const id = `E-${world.happened.length}`;
  const event = { id, shipment, status, at: world.clock.mark() - ago * 1000 };
  world.happened.push(event);
  tell(world, event);
}

/** Puts an event of the platform into the event queue. */
export function tell({ clock, events }: Simulation, { id, shipment, status, at }: Event): void {
  const body = () =>
    JSON.stringify({
      "detail-type": "shipment.status_changed",
      detail: { id, shipment_id: shipment, status, occurred_at: new Date(clock.asOfNow(at)).toISOString() },
    });
  events.send({ body, group: null });
}
