import Table from "cli-table3";
import type { Line, Usage } from "./bill.ts";
import type { Result } from "./command.ts";

/** For people: what was counted for each notification, and what the months cost. */
export function print({ machine, options, prices, measured, dollars }: Result): void {
  console.log(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);
  console.log(
    `\nCounted, for each notification (for each minute, where nothing is owed)\n${countTable(measured)}`,
  );
  console.log(`\nUS dollars; prices of ${prices}, no free tier\n${costTable(dollars, options)}`);
  console.log(
    `\nThe ${measured.outage.notifications} notifications of the outage were drained in ${measured.outage.drained.toFixed(1)} s, ${measured.outage.minutes} beat(s) of the schedule.`,
  );
}

const table = (head: string[]) =>
  new Table({
    head,
    colAligns: head.map((_, place) => (place === 0 ? "left" : "right")),
    style: { head: [], border: [] },
  });

function countTable({ idle, work, outage }: Result["measured"]): string {
  const counts = table(["", "idle", "work", "outage"]);
  const row = (what: string, of: (usage: Usage) => number) =>
    counts.push([
      what,
      (of(idle) / idle.minutes).toFixed(2),
      (of(work) / work.notifications).toFixed(2),
      (of(outage) / outage.notifications).toFixed(2),
    ]);
  row("statements", (usage) => usage.statements);
  row("SQS requests, standard", (usage) => usage.sqs.standard);
  row("SQS requests, FIFO", (usage) => usage.sqs.fifo);
  row("emails", (usage) => usage.emails);
  for (const name of Object.keys(work.functions))
    row(`invocations of ${name}`, (usage) => usage.functions[name]?.invocations ?? 0);
  return counts.toString();
}

function costTable({ fixed, idle, month, outage }: Result["dollars"], options: Result["options"]): string {
  const costs = table([
    "",
    "idle month",
    `${options.month.toLocaleString("en")} in a month`,
    `outage of ${options.outage} min`,
  ]);
  const none = { what: "", dollars: 0 };
  for (const line of fixed) costs.push([line.what, money(line), money(line), ""]);
  for (const [place, line] of month.entries())
    costs.push([line.what, money(idle[place] ?? none), money(line), money(outage[place] ?? none)]);
  const sum = (...lines: Line[][]) =>
    money({ what: "", dollars: lines.flat().reduce((all, { dollars }) => all + dollars, 0) });
  costs.push(["together", sum(fixed, idle), sum(fixed, month), sum(outage)]);
  return costs.toString();
}

const money = ({ dollars }: Line): string =>
  dollars > 0 && dollars < 0.01 ? dollars.toFixed(4) : dollars.toFixed(2);
