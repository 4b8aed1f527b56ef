import { replay } from "@owed/ledger";
import { redrive } from "../support/queue.ts";
import { allConsumers } from "./world/consumers.ts";
import type { World } from "./world/world.ts";

/** Minutes of the ledger's time after which a recovery is given up: what is unfinished then is told. */
const bound = 8 * 60;

/**
 * Everything works again, and the system recovers by itself: time passes with a beat of the schedule, the consumers
 * keep up. What stopped for a person to decide is then sent again by one, with the DLQ's own redrive first. Returns the
 * minutes that it took; null when something is still unfinished.
 */
export async function recover(world: World): Promise<number | null> {
  world.clearFaults();
  world.functions.stopNoMore();
  if (!world.database.up) await world.database.restart();
  world.database.proxy.open();
  world.functions.wallAhead = 0;
  world.consumers.start(...allConsumers);

  let minutes = 0;
  for (let interventions = 0; minutes < bound; ) {
    await world.bus.idle();
    await world.consumers.settled();
    await world.beat();
    await world.consumers.settled();
    const { unfinished, stopped } = await lookAt(world);
    if (unfinished === 0 && world.hidden.count === 0 && world.functions.frozen === 0) {
      if (stopped.length === 0 || interventions === 3) return minutes;
      interventions += 1;
      await intervene(world, stopped);
    }
    await world.pass(4 * 60);
    minutes += 4;
  }
  return null;
}

async function lookAt({ database }: World): Promise<{ unfinished: number; stopped: string[] }> {
  const rows = await database.sql<{ id: string; stopped: boolean }[]>`
    SELECT id, stopped_at IS NOT NULL AS stopped FROM owed.notification WHERE owed_at IS NOT NULL OR stopped_at IS NOT NULL`;
  const stopped = rows.filter((row) => row.stopped).map(({ id }) => id);
  return { unfinished: rows.length - stopped.length, stopped };
}

/** An operator's part: redrives the DLQ, as the console does, and replays what is still stopped. */
async function intervene(world: World, stopped: readonly string[]): Promise<void> {
  await redrive(world);
  await world.consumers.settled();
  await replay(world.database.ledger, stopped, { actor: "operator", why: "the fault is over" }, "replayed");
}
