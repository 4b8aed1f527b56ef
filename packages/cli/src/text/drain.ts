import type { Channel, Status } from "@owed/ledger";
import { duration } from "./time.ts";

/** Seconds until all is sent, which is when the last channel is through; null when of one of them nobody can say. */
export function longestDrain(channels: readonly Pick<Channel, "timeToDrain">[]): number | null {
  let most = 0;
  for (const { timeToDrain } of channels) {
    if (timeToDrain === null) return null;
    most = Math.max(most, timeToDrain);
  }
  return most;
}

/** The time to drain all channels, in words. */
export function drainText({ paused }: Pick<Status, "paused">, channels: readonly Channel[]): string {
  const timeToDrain = longestDrain(channels);
  if (timeToDrain === null)
    return channels.some((channel) => channel.timeToDrain === null && channel.closed)
      ? "not known: a channel is closed until somebody opens it"
      : "not known: no rate is known, and no sweep has published yet";
  if (timeToDrain === 0) return "nothing to drain";
  return `${duration(timeToDrain)}${paused ? ", once the sweeps run again" : ""}`;
}
