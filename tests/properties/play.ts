import type { TestDatabase } from "../support/database.ts";
import type { History } from "./commands.ts";
import { wrongIn } from "./invariants.ts";
import { type Left, readLeft } from "./record.ts";
import { recover } from "./recover.ts";
import { Simulation } from "./simulation.ts";
import { take } from "./take.ts";

export type Played = { world: Simulation; left: Left; wrong: string[] };

/** Plays a history, lets its world recover, and says what is wrong then. */
export async function play(database: TestDatabase, { seed, commands }: History): Promise<Played> {
  await database.sql`SELECT audit.reset()`;
  const world = new Simulation(database, seed);
  const { random } = Math;
  // Whatever the product jitters falls due between the commands' whole seconds, the same in each run.
  Math.random = () => Math.round(world.random()) / 2;
  try {
    for (const command of commands) await take(world, command);
    await recover(world);
  } finally {
    Math.random = random;
  }
  const left = await readLeft(world);
  return { world, left, wrong: wrongIn(world, left) };
}
