import { beats } from "@owed/cli/report/find";
import type { Now } from "./read.ts";

export type Situation = { tone: "good" | "warn" | "bad"; text: string };

/** Seconds since a sweep came to its end; null: none ever did, as far as the ledger remembers. */
export const sinceSweep = ({ at, pulse }: Pick<Now, "at" | "pulse">): number | null =>
  pulse.lastSweepAt && Math.max(0, (at.getTime() - pulse.lastSweepAt.getTime()) / 1000);

/** No sweep has come to its end for some beats, and nobody has paused them. */
export const sweepMissing = (now: Pick<Now, "at" | "pulse" | "every">): boolean =>
  !now.pulse.paused && (sinceSweep(now) ?? Number.POSITIVE_INFINITY) > beats * now.every;

/** How it stands, in words that change when the situation does, and not with each number. */
export function situation(now: Now): Situation {
  const { pulse, channels, every } = now;
  const closed = channels.filter((channel) => channel.closed).map(({ name }) => name);
  const waits = "what falls due waits in the ledger.";
  const also = closed.length > 0 ? ` Closed: ${closed.join(", ")}.` : "";
  if (pulse.paused) return { tone: "warn", text: `The sweeps are paused: ${waits}${also}` };
  if (sweepMissing(now)) return { tone: "bad", text: `No sweep comes to its end: ${waits}${also}` };
  if (closed.length > 0)
    return { tone: "bad", text: `Closed: ${closed.join(", ")}. What is owed there waits.` };
  if (pulse.oldestOwedAge > 2 * every)
    return { tone: "warn", text: "A backlog drains, the oldest first; fresh rows have their share." };
  return { tone: "good", text: "All is well: what falls due goes out." };
}
