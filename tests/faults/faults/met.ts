import { setTimeout as sleep } from "node:timers/promises";
import type { Draw, Fault } from "../fault.ts";
import type { World } from "../world/world.ts";

/** A fault that counts how often something has really met it: a test of it that nothing met proves nothing. */
export type MeetableFault = Fault & { readonly met: number };

type Meet = (times?: number) => void;
type Begin = (world: World, draw: Draw, meet: Meet) => Promise<() => Promise<void>>;

export function fault(name: string, begin: Begin): MeetableFault {
  let met = 0;
  return {
    name,
    get met() {
      return met;
    },
    begin: (world, draw) =>
      begin(world, draw, (times = 1) => {
        met += times;
      }),
  };
}

/** A fault that the world itself counts: what the counter of the world grows by while it lasts, told at once. */
export function counted(
  name: string,
  counterOf: (world: World) => () => number,
  begin: Begin,
): MeetableFault {
  let met = 0;
  let lasting = () => 0;
  return {
    name,
    get met() {
      return met + lasting();
    },
    async begin(world, draw) {
      const counter = counterOf(world);
      const before = counter();
      lasting = () => counter() - before;
      const end = await begin(world, draw, () => {});
      return async () => {
        await end();
        met += lasting();
        lasting = () => 0;
      };
    },
  };
}

/** Which calls a fault hits: all, every second or third, or the first few only. */
export function picks(draw: Draw): () => boolean {
  const every = [1, 1, 2, 3][draw(4)] ?? 1;
  const most = draw(3) < 2 ? Number.POSITIVE_INFINITY : 1 + draw(12);
  let calls = 0;
  let picked = 0;
  return () => {
    calls += 1;
    if (calls % every !== 0 || picked >= most) return false;
    picked += 1;
    return true;
  };
}

/** Does something again and again, with so many milliseconds between; what it returns ends that. */
export function repeat(milliseconds: () => number, action: () => Promise<unknown>): () => Promise<void> {
  const over = new AbortController();
  const repeating = async () => {
    while (!over.signal.aborted) {
      await action();
      await sleep(milliseconds(), undefined, { signal: over.signal }).catch(() => {});
    }
  };
  const ended = repeating();
  return async () => {
    over.abort();
    await ended;
  };
}
