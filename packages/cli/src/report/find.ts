import type { Settings } from "@owed/functions/settings";
import { type Ledger, type Outage, type Report, type ReportOptions, reportOutages } from "@owed/ledger";
import { proofOf } from "./proof.ts";

/** Beats of the schedule that must be missing. */
export const beats = 3;

/** Seconds without a sweep that worked from which it is an outage. */
export const gapOf = ({ sweep }: Pick<Settings, "sweep">): number => beats * sweep.every;

export type Proven = Outage & { proof: string };

/** What was asked, and what was found: each outage with its proof. */
export type Found = ReportOptions & Omit<Report, "outages"> & { outages: Proven[] };

/** The outages of a window, as `owed report --json` has them. */
export async function findOutages(ledger: Ledger, asked: ReportOptions): Promise<Found> {
  const found = await reportOutages(ledger, asked);
  return {
    ...asked,
    ...found,
    outages: found.outages.map((outage) => ({ ...outage, proof: proofOf(outage) })),
  };
}
