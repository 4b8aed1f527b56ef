import type { Fates, Outage, Report } from "@owed/ledger";
import { table } from "../text/table.ts";
import { duration, time } from "../text/time.ts";
import { plural } from "../text/words.ts";
import { proofOf } from "./proof.ts";

/** A report as a page: each outage with its table, and the proof at its end. */
export function page({ outages, more }: Report): string[] {
  return [
    ...outages.flatMap((outage) => [...about(outage), ""]),
    ...(more ? ["… and older ones: --until"] : []),
  ];
}

const about = (outage: Outage): string[] => [
  outage.to
    ? `Outage of ${duration(outage.seconds)}: ${time(outage.from)} to ${time(outage.to)}`
    : `Outage for ${duration(outage.seconds)}, and it goes on: since ${time(outage.from)}`,
  ...outage.pauses.map(
    ({ at, by, why, resumedAt }) =>
      `paused by ${by} at ${time(at)}${resumedAt ? `, resumed at ${time(resumedAt)}` : ""}${why ? `: ${why}` : ""}`,
  ),
  ...(outage.failed > 0 ? [`${plural(outage.failed, "sweep")} began in it and did not come to the end`] : []),
  "",
  ...fatesTable(outage),
  ...outage.deadFor.map(({ reason, rows }) => `dead: ${rows} for ${reason}`),
  ...oldSender(outage),
  ...recovery(outage),
  proofOf(outage),
  ...openRows(outage),
];

const rows: [string, (fates: Fates) => string | number | null][] = [
  ["fell due, or waited", ({ due }) => due],
  ["sent", ({ sent }) => sent],
  ["  more than 1 min late", ({ lateByMinutes }) => lateByMinutes],
  ["  late: p50", ({ late }) => seconds(late.p50)],
  ["  late: p95", ({ late }) => seconds(late.p95)],
  ["  late: max", ({ late }) => seconds(late.max)],
  ["expired", ({ expired }) => expired],
  ["superseded", ({ superseded }) => superseded],
  ["opted out", ({ optedOut }) => optedOut],
  ["suppressed", ({ suppressed }) => suppressed],
  ["erased", ({ erased }) => erased],
  ["cancelled by people", ({ cancelled }) => cancelled],
  ["dead", ({ dead }) => dead],
  ["still owed", ({ stillOwed }) => stillOwed],
  ["unknown at some time", ({ unknown }) => unknown],
  ["perhaps sent twice", ({ perhapsTwice }) => perhapsTwice],
  ["certainly sent twice", ({ twice }) => twice],
];

const seconds = (late: number | null): string | null => (late === null ? null : duration(late));

const fatesTable = ({ all, channels }: Outage): string[] =>
  table(
    ["", "all", ...channels.map(({ channel }) => channel)],
    rows.map(([name, of]) => [name, of(all), ...channels.map(of)]),
  );

function oldSender({ oldSender: { due, sent, cancelled, dead, waiting } }: Outage): string[] {
  if (due === 0) return [];
  return [
    `the old sender's, apart from these: ${due} due, ${sent} sent, ${cancelled} cancelled, ${dead} dead, ${waiting} waiting`,
  ];
}

function recovery({ recoveredAt, recovery: after }: Outage): string[] {
  if (recoveredAt === null) return [];
  const since = after === null ? "" : `, ${duration(after)} after the outage had ended`;
  return [`the last of them was sent at ${time(recoveredAt)}${since}`];
}

function openRows({ stillOwed, all }: Outage): string[] {
  if (stillOwed.length === 0) return [];
  const more = all.stillOwed - stillOwed.length;
  return [
    ...table(
      ["due", "channel", "state", "reason", "notification"],
      stillOwed.map(({ id, channel, state, dueAt, reason }) => [time(dueAt), channel, state, reason, id]),
    ),
    ...(more > 0 ? [`… and ${more} more`] : []),
  ];
}
