import Table from "cli-table3";
import type { Summary } from "../database/measure.ts";
import { figureTable, showSeries } from "../figures.ts";
import type { Result } from "./command.ts";

/** For people: what each published a second, and what that cost. */
export function print({ machine, options, queues, figures }: Result, log: (text: string) => void): void {
  log(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);
  log(`Medians (min … max) of ${options.runs} runs each, ${options.history} rows of history`);
  const table = new Table({
    head: ["queue", "", "rows/s", "statements/row", "WAL bytes/row", "server's cores", "client's cores"],
    colAligns: ["left", "left", "right", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const { serviceTime, original, sweep, alone } of queues) {
    const queue = `${serviceTime} ms`;
    table.push([queue, "row by row: SendMessage, UPDATE", ...cells(original)]);
    table.push([queue, "the shipped sweep", ...cells(sweep)]);
    table.push([queue, "the SDK alone, no ledger", showSeries(alone)]);
  }
  log(table.toString());
  log(figureTable(figures));
}

const cells = ({ rowsPerSecond, statementsPerRow, walPerRow, serverCores, clientCores }: Summary) => [
  showSeries(rowsPerSecond),
  statementsPerRow.median.toFixed(4),
  walPerRow.median.toFixed(0),
  serverCores?.median.toFixed(2) ?? "?",
  clientCores.median.toFixed(2),
];
