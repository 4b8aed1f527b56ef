import Table from "cli-table3";
import { moments } from "./classify.ts";
import type { Reconciliation } from "./reconcile.ts";
import type { Window } from "./window.ts";

const style = { style: { head: [], border: [] } };

export function windowTable(windows: readonly Window[]): string {
  const table = new Table({
    head: ["the provider answers", "from … to delivered_at", "p50", "p99", "max"],
    ...style,
  });
  for (const { provider, acceptedToDelivered, claimedToDelivered } of windows) {
    const named = [
      ["the provider's acceptance", acceptedToDelivered],
      ["claimed_at", claimedToDelivered],
    ] as const;
    for (const [from, { p50, p99, max }] of named)
      table.push([provider ? `after ${provider} ms` : "at once", from, p50, p99, max]);
  }
  return table.toString();
}

export function fateTable(result: Reconciliation): string {
  const colWidths = [30, ...result.fates.map(() => 14)];
  const table = new Table({ head: ["killed", ...result.fates], colWidths, wordWrap: true, ...style });
  for (const moment of moments) table.push([moment, ...result.moments[moment]]);
  const { kills, notifications, lost, duplicates, possibleDuplicates, uncounted, minutes, took } = result;
  return `${table.toString()}
${kills} kills, ${notifications} notifications: ${lost} lost, ${duplicates} duplicates (${uncounted} uncounted), ${possibleDuplicates} resends counted as
possible duplicates, ${result.wereUnknown} unknown at some time, ${result.notFinished} not finished; a round's recovery took ${minutes} min of ledger
time at most, all of it ${took} s of real time`;
}
