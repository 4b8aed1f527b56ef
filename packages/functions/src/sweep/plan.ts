import type { ChannelLoad, Share } from "@owed/ledger";
import type { Settings } from "../settings.ts";

/** How many rows a sweep may publish: of each channel in all, and of them those kept for fresh rows first. */
export type Plan = { fresh: Share[]; all: Share[] };

/**
 * The queue stays shallow: a channel gets what its provider takes until the next sweep, less what the queue has, so
 * that the backlog waits in the ledger, where it can still be cancelled or overtaken. A queue that takes longer to
 * drain than lost-after would also make rows look lost. Where more is due than that, fresh rows have their part first.
 */
export function plan(channels: readonly ChannelLoad[], { sweep }: Pick<Settings, "sweep">): Plan {
  const made: Plan = { fresh: [], all: [] };
  for (const load of channels) {
    const most = load.due === 0 ? 0 : mostOf(load, sweep);
    if (most === 0) continue;
    made.all.push({ channel: load.channel, most });
    const fresh = Math.floor(most * sweep.freshShare);
    if (load.due > most && fresh > 0) made.fresh.push({ channel: load.channel, most: fresh });
  }
  return made;
}

/** The channel has rows due, and the queue has as many of it already as it may. */
export const isFull = (load: ChannelLoad, { sweep }: Pick<Settings, "sweep">): boolean =>
  load.due > 0 && !load.closed && load.inQueue > 0 && mostOf(load, sweep) === 0;

function mostOf(load: ChannelLoad, { every, queued, probe }: Settings["sweep"]): number {
  if (load.closed) return 0;
  const carried = load.rate === null ? queued : Math.max(1, Math.floor(load.rate * every));
  const most = Math.min(carried, load.quotaLeft ?? carried) - load.inQueue;
  return Math.max(0, load.probing ? Math.min(most, probe) : most);
}
