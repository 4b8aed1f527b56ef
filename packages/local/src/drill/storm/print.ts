import Table from "cli-table3";
import { ends } from "./judge.ts";
import type { StormReport } from "./storm.ts";

const shown = 20;

/** The account as a person reads it. */
export function printStorm(report: StormReport): void {
  const { byChannel, reasons, faults } = report;
  const plain = { style: { head: [], border: [] } };
  const table = new Table({ head: ["", "owed", ...ends, "unfinished"], ...plain });
  const channels = Object.entries(byChannel);
  for (const [channel, of] of channels)
    table.push([channel, of.rows, ...ends.map((end) => of[end]), of.unfinished]);
  const sum = (count: (of: (typeof channels)[number][1]) => number) =>
    channels.reduce((total, [, of]) => total + count(of), 0);
  table.push([
    "all",
    sum((of) => of.rows),
    ...ends.map((end) => sum((of) => of[end])),
    sum((of) => of.unfinished),
  ]);
  console.log(table.toString());

  const why = new Table({ head: ["not sent, since it was", "rows"], ...plain });
  for (const [reason, rows] of Object.entries(reasons).toSorted(([, a], [, b]) => b - a))
    why.push([reason, rows]);
  console.log(why.toString());

  const busiest = Object.entries(report.busiestSecond).map(([channel, most]) => `${channel} ${most}`);
  console.log(
    `${report.events} events of ${report.shipments} shipments while the schedule stood still; ${report.people} people got ${report.messages} messages.`,
  );
  console.log(
    `Drained in ${report.drainedIn} s; most messages in one second: ${busiest.join(", ")}. Seed ${report.seed}.`,
  );
  for (const fault of faults.slice(0, shown)) console.log(`not as the rules say: ${fault}`);
  if (faults.length > shown) console.log(`and ${faults.length - shown} more`);
  console.log(
    report.ok
      ? "ok: everything owed has ended in one way, with its reason, and everybody got what the rules say"
      : "NOT ok",
  );
}
