import { cancel, replay, resolveAsSent } from "@owed/ledger";
import { runDeliver, runSweep } from "./functions.ts";
import { anyOverlap } from "./invocation.ts";
import { act, open, redrive } from "./operator.ts";
import type { Simulation } from "./simulation.ts";
import { work } from "./take.ts";

type Left = {
  id: string;
  state: string;
  /** Seconds until somebody looks again; null: a person must. */
  wait: number | null;
};

const mostRounds = 60;

/**
 * The troubles end: the provider accepts and tells, the schedule beats, the consumers run, and a person looks after
 * what has stopped. Returns what is left when nothing more happens, or after more rounds than it can take.
 */
export async function recover(world: Simulation): Promise<Left[]> {
  const { provider, notifications, events, feedback } = world;
  provider.answers = [];
  provider.fates = [];
  provider.about.clear();
  world.refusing = 0;
  await open(world);
  for (let round = 0; ; round += 1) {
    await work(world);
    const left = await readLeft(world);
    const queues = [...notifications.messages, ...events.messages, ...feedback.messages];
    const dead = notifications.dead.length;
    if (left.length + queues.length + dead + world.frozen.length === 0 || round === mostRounds) return left;
    if (dead > 0) await redrive(world);
    else await lookAfter(world, left);
    const waits = [
      ...left.flatMap(({ wait }) => wait ?? []),
      ...queues.map(({ visibleAt }) => visibleAt - world.clock.now),
    ];
    const next = Math.ceil(Math.min(...waits.filter((wait) => wait > 0)));
    await world.pass(Number.isFinite(next) ? Math.max(60, next) : 60, { beating: true });
    if (world.frozen.length > 0) await goOn(world, round);
  }
}

/** In the midst of another worker's batch, or by itself: the later ones find a ledger that has gone on without them. */
async function goOn(world: Simulation, round: number): Promise<void> {
  await runSweep(world);
  if (world.random() < 0.5) await runDeliver(world, { most: 10, disturbance: anyOverlap(world) });
  const [invocation] = world.frozen;
  if (invocation && (round > 3 || world.random() < 0.2)) await world.thaw(invocation);
}

const readLeft = ({ sql }: Simulation) => sql<Left[]>`
  SELECT id, state, ceil(extract(epoch FROM owed_at - now()))::float8 AS wait FROM owed.notification
  WHERE state NOT IN ('delivered', 'cancelled') ORDER BY id`;

/** Every other unknown outcome was sent, as far as a person can find out; what nobody wants any more is cancelled. */
async function lookAfter(world: Simulation, left: readonly Left[]): Promise<void> {
  const stopped = left.filter(({ wait }) => wait === null);
  const sent = stopped
    .filter(({ state }, place) => state === "unknown" && place % 2 === 1)
    .map(({ id }) => id);
  for (const id of sent) await resolveAsSent(world.ledger, id, act);
  const again = stopped.map(({ id }) => id).filter((id) => !sent.includes(id));
  const { moot } = await replay(world.ledger, again, act, "replayed");
  for (const id of moot.keys()) await cancel(world.ledger, id, act);
}
