import {
  type Circumstances,
  explainMoot,
  type History,
  type Ledger,
  type Moot,
  readCircumstances,
  show,
} from "@owed/ledger";
import { causeOf, mootOf, suppressionsOf, waits } from "../answer-cause.ts";
import { closedChannels } from "../closed.ts";
import { masked } from "../text/mask.ts";
import { type Moment, standing, timeline } from "../timeline.ts";

/** A notification, all that happened to it, and what it is now. */
export type Told = {
  row: History;
  /** Why it is not sent, or will not be. */
  moot: Moot | null;
  moments: Moment[];
  standing: string;
  circumstances: Circumstances | null;
};

/** A notification's whole history; `full`: its address is not masked. Throws `NotificationNotFound`. */
export async function readHistory(ledger: Ledger, id: string, full: boolean): Promise<Told> {
  const row = masked(await show(ledger, id), full);
  const closed = (await closedChannels(ledger, [row])).get(row.channel);
  const moot = mootOf(row, await explainMoot(ledger, waits(row) ? [row.id] : []));
  const circumstances = await readCircumstances(ledger, row.shipmentId, suppressionsOf([moot]));
  const moments = timeline(row, moot && causeOf(row, moot, circumstances));
  return { row, moot, moments, standing: standing(row, closed, moot), circumstances };
}
