import {
  type Beat,
  type Channel,
  type DoneAct,
  listActs,
  listBeats,
  type Pulse,
  readChannels,
  readPulse,
} from "@owed/ledger";
import type { Context } from "../context.ts";

/** How it stands now. */
export type Now = {
  at: Date;
  pulse: Pulse;
  channels: readonly Channel[];
  /** The last sweeps, newest first. */
  beats: readonly Beat[];
  /** What people did to the sweeps, the channels and the queues, newest first. */
  acts: readonly DoneAct[];
  /** Seconds from one beat of the schedule to the next. */
  every: number;
};

/** Beats that the page shows. */
export const shown = 30;

/** Asks the ledger how it stands. Throws `LedgerUnavailable`. */
export async function readNow({ ledger, services }: Pick<Context, "ledger" | "services">): Promise<Now> {
  const { durations, sweep } = await services.settings();
  const [pulse, channels, beats, acts] = await Promise.all([
    readPulse(ledger),
    readChannels(ledger, durations),
    listBeats(ledger, shown),
    listActs(ledger, 10),
  ]);
  return { at: new Date(), pulse, channels, beats, acts, every: sweep.every };
}
