import type { Outage, Report } from "@owed/ledger";
import { table } from "../text/table.ts";
import { duration, time } from "../text/time.ts";
import { plural } from "../text/words.ts";
import { proofOf } from "./proof.ts";
import { fateRows, notDrained, oldSender, resumed } from "./sentences.ts";

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

const fatesTable = ({ all, channels }: Outage): string[] =>
  table(
    ["", "all", ...channels.map(({ channel }) => channel)],
    fateRows.map(([name, of]) => [name, of(all), ...channels.map(of)]),
  );

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
