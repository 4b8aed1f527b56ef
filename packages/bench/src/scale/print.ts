import Table from "cli-table3";
import { minutesOfMonth, prices } from "../cost/prices.ts";
import { showNumber } from "../figures.ts";
import type { Result } from "./command.ts";
import { connectionsOfContainer, executions, type Limit, type Stage } from "./limits.ts";
import type { Month } from "./month.ts";
import { quotas } from "./quotas.ts";

/** For people, or as Markdown: the limits of production as deployed, and each month's. */
export function print({ limits, months, options }: Result, log: (text: string) => void): void {
  const table = options.markdown ? markdownTable : textTable;
  log("What production carries as it is deployed, the least first\n");
  log(
    table(
      ["", "notifications/s", "in a month, evenly", "raised by"],
      limits.map(({ what, carries, raise }) => [
        what,
        showNumber(carries),
        compact.format(carries * minutesOfMonth * 60),
        raise,
      ]),
    ),
  );
  log(`\n${others}`);
  log(`\nA month, with a peak of ${options.peak} times its average\n`);
  const rows: [string, (month: Month) => string][] = [
    ["average, a second", ({ average }) => showNumber(average)],
    ["peak, a second", ({ peak }) => showNumber(peak)],
    ["first limit as deployed", ({ first }) => limitText(first)],
    ["what carries it", ({ stage }) => stageText(stage)],
    ["nearest limit then", ({ next }) => limitText(next)],
    ["rows kept, GB a month", ({ growth }) => showNumber(growth)],
    ...dollarRows(months),
    ["**together**, $", (month) => money(total(month))],
    ["$ for a thousand", (month) => (total(month) / (month.notifications / 1000)).toFixed(3)],
  ];
  log(
    table(
      ["", ...months.map(({ notifications }) => notifications.toLocaleString("en"))],
      rows.map(([what, of]) => [what, ...months.map(of)]),
    ),
  );
}

/** Limits that are of another kind. */
const others = [
  `A FIFO queue has ${quotas.sqs.inFlight.toLocaleString("en")} messages in flight at most: ten for each execution of deliver.`,
  `Texts have limits of their own, by country and number: ${quotas.sms.tollFree} parts a second from a US toll-free number, ${quotas.sms.shortCode} from a short code.`,
  `Quotas of eu-west-1, ${quotas.date}; prices of ${prices.region}, ${prices.date}.`,
].join("\n");

/** The database's lines differ from month to month; the others have the same names. */
function dollarRows(months: readonly Month[]): [string, (month: Month) => string][] {
  const lines = months[0]?.dollars ?? [];
  return lines.map(({ what }, place) => [
    `${place === 0 ? "RDS: instances" : place === 1 ? "RDS: storage" : what}, $`,
    ({ dollars }) => money(dollars[place]?.dollars ?? 0),
  ]);
}

/** Such as 138M. */
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export const total = ({ dollars }: Month): number => dollars.reduce((sum, line) => sum + line.dollars, 0);

const money = (dollars: number): string =>
  dollars.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const limitText = (limit: Limit | null): string =>
  limit === null ? "none" : `${limit.what}: ${showNumber(limit.carries)}/s`;

const stageText = (stage: Stage): string =>
  [
    `${stage.instance.name}, ${stage.storage} GB`,
    `ingest ${stage.concurrency.ingest}, deliver ${stage.concurrency.deliver}, feedback ${stage.concurrency.feedback} at once (${executions(stage)} in all)`,
    `${stage.memory} MB`,
    `SES ${stage.emails.rate}/s and ${stage.emails.daily.toLocaleString("en")} a day`,
    `${Math.max(100, Math.ceil((executions(stage) * connectionsOfContainer) / 0.8))} connections`,
  ].join("; ");

function textTable(head: string[], rows: string[][]): string {
  const table = new Table({
    head,
    style: { head: [], border: [] },
    wordWrap: true,
    colWidths: head.map((_, place) => (place === 0 ? 44 : 36)),
  });
  table.push(...rows.map((row) => row.map((cell) => cell.replaceAll("**", ""))));
  return table.toString();
}

const markdownTable = (head: string[], rows: string[][]): string =>
  [head, head.map((_, place) => (place === 0 ? "---" : "---:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");
