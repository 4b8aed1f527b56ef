import type { Fates, Outage, Report } from "@owed/ledger";
import { table } from "../text/table.ts";
import { duration, time } from "../text/time.ts";
import { plural } from "../text/words.ts";
import { proofOf } from "./proof.ts";

/** A report as a page: each outage with its table, and the proof at its end. With `full` what is still owed, by its id. */
export function page({ outages, more }: Report, full = false): string[] {
  return [
    ...outages.flatMap((outage) => [...about(outage, full), ""]),
    ...(more ? ["… and older ones: --until"] : []),
  ];
}

const about = (outage: Outage, full: boolean): string[] => [
  heading(outage),
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
  ...notDrained(outage),
  ...(full ? openRows(outage) : openCounts(outage)),
];

function heading({ from, to, seconds, pauses }: Outage): string {
  if (to) return `Outage of ${duration(seconds)}: ${time(from)} to ${time(to)}`;
  if (resumed(pauses))
    return `Outage for ${duration(seconds)}: since ${time(from)}; resumed, and no sweep has worked since`;
  return `Outage for ${duration(seconds)}, and it goes on: since ${time(from)}`;
}

/** Somebody paused, and nobody's pause stands. */
const resumed = (pauses: Outage["pauses"]): boolean =>
  pauses.length > 0 && pauses.every(({ resumedAt }) => resumedAt !== null);

/** The end of an outage is not yet the end of what it left behind. */
function notDrained({ to, pauses, all }: Outage): string[] {
  if (all.stillOwed === 0) return [];
  if (to) return ["Sweeps run again, and it is not drained yet: ask again after the next ones."];
  return resumed(pauses) ? ["The next sweep begins to drain it: ask again after it."] : [];
}

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

/** By channel and state; the report has the oldest rows alone, and each channel's number. */
function openCounts({ stillOwed, all, channels }: Outage): string[] {
  if (stillOwed.length === 0) return [];
  const more = all.stillOwed - stillOwed.length;
  if (more > 0)
    return [
      ...table(
        ["channel", "still owed"],
        channels.filter((one) => one.stillOwed > 0).map((one) => [one.channel, one.stillOwed]),
      ),
      `their ids, the oldest ${stillOwed.length}: --full`,
    ];
  const groups = Map.groupBy(stillOwed, ({ channel, state }) => `${channel} ${state}`);
  return [
    ...table(
      ["channel", "state", "still owed"],
      [...groups].toSorted().map(([name, rows]) => [...name.split(" "), rows.length]),
    ),
    "their ids: --full",
  ];
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
