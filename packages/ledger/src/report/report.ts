import type { Ledger } from "../connect/ledger.ts";
import { type Counted, countGap, type Fates } from "./count-gap.ts";
import { findGaps, type Gap, type Window } from "./find-gaps.ts";

/** A gap in the heartbeat, and what became of all that fell due in it or waited when it began. */
export type Outage = Gap & Counted & { addsUp: boolean; nothingOwed: boolean };

export type Report = {
  /** Newest first. A notification that waited through two gaps counts in both. */
  outages: Outage[];
  /** There are more: older ones than these. */
  more: boolean;
  /** Each outage's sum adds up. */
  addsUp: boolean;
  /** Nothing that fell due in an outage, or waited when it began, is still owed. */
  nothingOwed: boolean;
};

export type ReportOptions = Window & {
  /** Seconds without a sweep from which it is an outage. */
  gap: number;
  /** This merchant's notifications alone; null: all. */
  merchant: string | null;
  /** Outages at most, the newest; 50 when not said. */
  most?: number;
};

/** Finds the outages of a window by the heartbeat alone, and proves what became of what was owed in them. */
export async function reportOutages(ledger: Ledger, options: ReportOptions): Promise<Report> {
  const { most = 50 } = options;
  const gaps = await findGaps(ledger, options, { gap: options.gap, most: most + 1 });
  const outages: Outage[] = [];
  for (const gap of gaps.slice(0, most)) {
    const counted = await countGap(ledger, gap, options.merchant);
    outages.push({
      ...gap,
      ...counted,
      addsUp: addsUp(counted),
      nothingOwed: counted.all.stillOwed === 0,
    });
  }
  return {
    outages,
    more: gaps.length > most,
    addsUp: outages.every((outage) => outage.addsUp),
    nothingOwed: outages.every((outage) => outage.nothingOwed),
  };
}

/** The ways to end: with what is still owed, they are all that fell due. */
export const endings = [
  "sent",
  "expired",
  "superseded",
  "optedOut",
  "suppressed",
  "erased",
  "cancelled",
  "dead",
] as const satisfies readonly (keyof Fates)[];

const sumOf = (fates: Fates): number => endings.reduce((sum, ending) => sum + fates[ending], fates.stillOwed);

/** Every notification is in exactly one of them, in all and by channel; and the channels are all there are. */
export function addsUp({ all, channels, deadFor, oldSender }: Counted): boolean {
  const { due, sent, cancelled, dead, waiting } = oldSender;
  return (
    [all, ...channels].every((fates) => sumOf(fates) === fates.due) &&
    channels.reduce((sum, channel) => sum + channel.due, 0) === all.due &&
    deadFor.reduce((sum, { rows }) => sum + rows, 0) === all.dead &&
    sent + cancelled + dead + waiting === due
  );
}
