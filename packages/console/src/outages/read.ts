import { type Found, findOutages, gapOf, type Proven } from "@owed/cli/report/find";
import type { ReportOptions } from "@owed/ledger";
import type { Context } from "../context.ts";

export type Read = Found & {
  /** Seconds that the ledger took: who asks again and again waits for a multiple of them. */
  took: number;
};

/** The outages of a window, as the command line finds them. */
export async function readOutages(context: Context, window: Omit<ReportOptions, "gap">): Promise<Read> {
  const gap = gapOf(await context.services.settings());
  const began = performance.now();
  const found = await findOutages(context.ledger, { ...window, gap });
  return { ...found, took: (performance.now() - began) / 1000 };
}

/** The one outage that began then; null: none did. */
export async function readOutage(
  context: Context,
  from: Date,
  merchant: string | null,
): Promise<{ read: Read; outage: Proven } | null> {
  // A moment's window: what reaches into it is told whole.
  const until = new Date(from.getTime() + 1).toISOString();
  const read = await readOutages(context, { since: from.toISOString(), until, merchant });
  const outage = read.outages.find((one) => one.from.getTime() === from.getTime());
  if (!outage) return null;
  const { addsUp, nothingOwed } = outage;
  return { read: { ...read, addsUp, nothingOwed, outages: [outage] }, outage };
}

/** It goes on, or what it left behind is not done: there will be something new to see. */
export const isUnsettled = ({ to, nothingOwed }: Proven): boolean => to === null || !nothingOwed;

/** Seconds until it may be read again: soon, and never so often that asking is what keeps the ledger busy. */
export const restOf = (took: number, least: number): number => Math.ceil(Math.max(least, took * 4));
