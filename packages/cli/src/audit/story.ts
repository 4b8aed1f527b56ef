import { type History, type Ledger, show } from "@owed/ledger";
import { causeOf, causeText, mootOf } from "../answer-cause.ts";
import { masked } from "../text/mask.ts";
import { type Moment, timeline } from "../timeline.ts";
import type { Audit } from "./read.ts";

/** Something that happened, to a shipment or to one of its notifications. */
export type StoryMoment = Moment & { notification: History | null };

/** The whole history of each notification of an audit; `full`: their addresses are not masked. */
export const readHistories = (ledger: Ledger, { rows }: Audit, full: boolean): Promise<History[]> =>
  Promise.all(rows.map(async ({ id }) => masked(await show(ledger, id), full)));

/** All that happened, in the order of time: the shipment's events once, and each notification's own history. */
export function story({ grounds, circumstances }: Audit, histories: readonly History[]): StoryMoment[] {
  const events = circumstances.events.map(({ id, status, occurredAt }) => ({
    at: occurredAt,
    what: causeText({ kind: "event", id, status, at: occurredAt }),
    notification: null,
  }));
  const told = new Set(events.map(({ what }) => what));
  const others = histories.flatMap((notification) => {
    const moot = mootOf(notification, grounds.moot);
    return timeline(notification, moot && causeOf(notification, moot, circumstances))
      .filter(({ what }) => !told.has(what))
      .map((moment) => ({ ...moment, notification }));
  });
  return [...events, ...others].toSorted((a, b) => a.at.getTime() - b.at.getTime());
}
