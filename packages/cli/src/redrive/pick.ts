import { type History, type Ledger, listStopped, NotificationNotFound, show } from "@owed/ledger";
import { time } from "../text/time.ts";

/** Dead rows to be owed again, and those that were named and can't be. */
export type Picked = {
  rows: { id: string; reason: string }[];
  refused: { id: string; why: string }[];
  /** More rows fit the filter than the limit allows. */
  more: boolean;
};

export type Filter = {
  shipment?: string | undefined;
  channel?: string | undefined;
  reason?: string | undefined;
  limit: number;
};

/** The dead rows that fit a filter, those first that have waited longest. */
export async function pickByFilter(
  ledger: Ledger,
  { shipment, channel, reason, limit }: Filter,
): Promise<Picked> {
  const found = await listStopped(ledger, {
    state: "dead",
    shipmentId: shipment,
    channel,
    reason,
    limit: limit + 1,
  });
  const rows = found.slice(0, limit).map(({ id, reason: why }) => ({ id, reason: why }));
  return { rows, refused: [], more: found.length > limit };
}

/** The dead ones of these. One that is not dead, or unknown to the ledger, holds back no other. */
export async function pickByIds(ledger: Ledger, ids: readonly string[]): Promise<Picked> {
  const picked: Picked = { rows: [], refused: [], more: false };
  for (const id of ids) {
    try {
      const row = await show(ledger, id);
      if (row.state === "dead") picked.rows.push({ id, reason: row.reason ?? "" });
      else picked.refused.push({ id, why: `it is ${row.state}, not dead${instead(row)}` });
    } catch (error) {
      if (!(error instanceof NotificationNotFound)) throw error;
      picked.refused.push({ id, why: "there is no such notification" });
    }
  }
  return picked;
}

function instead({ state, tries }: History): string {
  if (state === "unknown") return ": owed resolve, or owed replay";
  if (state === "delivered") return ": owed replay --as-new";
  const done = tries.findLast(({ kind, actor }) => kind === "redriven" && actor !== "queue");
  return done ? `: ${done.actor} redrove it at ${time(done.at)}` : "";
}
