import { markRestored } from "@owed/ledger";
import { durations, runIngest } from "./functions.ts";
import { act } from "./operator.ts";
import { tell } from "./platform.ts";
import type { Simulation } from "./simulation.ts";

export async function backUp(world: Simulation): Promise<void> {
  await world.sql`SELECT audit.back_up()`;
  world.backup = { at: world.clock.now };
}

/**
 * The ledger is put back as it was at the backup: whoever was at work is gone, queues and provider have seen what they
 * have seen. The archive gives the events since once more, and the operator says that the ledger was put back.
 */
export async function restore(world: Simulation): Promise<void> {
  const { backup } = world;
  if (!backup) return;
  for (const invocation of world.frozen) invocation.die();
  world.frozen = [];
  await world.sql`SELECT audit.restore(${world.clock.now - backup.at})`;
  world.times.restored += 1;
  for (const event of world.happened) tell(world, event);
  while ((await runIngest(world, { most: 10, disturbance: null })) > 0);
  await markRestored(world.ledger, durations, act);
}
