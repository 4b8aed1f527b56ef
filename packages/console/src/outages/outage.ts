import type { Proven } from "@owed/cli/report/find";
import { fateRows, notDrained, oldSender } from "@owed/cli/report/sentences";
import { duration } from "@owed/cli/text/time";
import type { Fates, Point } from "@owed/ledger";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { facts, table, time } from "../page/parts.ts";
import { causesOf } from "./parts.ts";

export type Links = {
  /** To one notification's history; what is saved as a file leads nowhere. */
  notification: (id: string) => Html;
  /** To the dead letters. */
  dead: Html | string;
};

/** What is known of one outage, in the order in which it is asked: is it over, what became of it, what is left. */
export type Parts = { proof: Html; summary: Html; fates: Html; left: Html; series: Html };

export function partsOf(outage: Proven, { notification, dead }: Links): Parts {
  const { from, to, seconds, all, deadFor, recoveredAt, recovery } = outage;
  const mood = !outage.addsUp ? "bad" : outage.nothingOwed && to ? "good" : "warn";
  return {
    proof: html`<p class="lead ${mood}">${outage.proof}</p>${notDrained(outage).map((line) => html`<p>${line}</p>`)}`,
    summary: html`${facts([
      ["Began, after the last sweep", time(from)],
      ["Ended, with the next sweep", to ? time(to) : html`<span class="bad">no sweep since</span>`],
      ["Lasted", duration(seconds)],
      ["Late by, half of them", late(all.late.p50)],
      ["Late by, 95 of 100", late(all.late.p95)],
      ["Late by, at most", late(all.late.max)],
      ["The last of them was sent", recoveredAt ? time(recoveredAt) : null],
      ["That is, after its end", recovery === null ? null : duration(recovery)],
    ])}
    ${causesOf(outage)}`,
    fates: html`${fatesTable(outage)}
    ${deadFor.length === 0 ? "" : html`<p>Dead: ${deadFor.map(({ reason, rows }, place) => html`${place > 0 ? ", " : ""}${rows} for <bdi>${reason}</bdi>`)}. ${dead}</p>`}
    ${oldSender(outage).map((line) => html`<p>${line}.</p>`)}`,
    left: stillOwed(outage, notification),
    series: seriesTable(outage.series),
  };
}

const late = (seconds: number | null): string | null => (seconds === null ? null : duration(seconds));

function fatesTable({ all, channels }: Proven): Html {
  const columns: readonly (Fates & { name: string })[] = [
    { ...all, name: "All" },
    ...channels.map((one) => ({ ...one, name: one.channel })),
  ];
  return table(
    "What became of what fell due in it, or waited when it began",
    [
      { name: "Notifications", cell: ([name]) => name.trim() },
      ...columns.map((fates) => ({
        name: fates.name,
        cell: ([, of]: (typeof fateRows)[number]) => of(fates),
        number: true as const,
      })),
    ],
    fateRows,
  );
}

function stillOwed({ stillOwed: open, all }: Proven, notification: Links["notification"]): Html {
  if (open.length === 0) return html``;
  const more = all.stillOwed - open.length;
  return html`${table(
    "Still owed, the oldest first",
    [
      { name: "Due", cell: ({ dueAt }) => time(dueAt) },
      { name: "Channel", cell: ({ channel }) => channel },
      { name: "State", cell: ({ state }) => state },
      { name: "Reason", cell: ({ reason }) => (reason ? html`<bdi>${reason}</bdi>` : null) },
      { name: "Notification", cell: ({ id }) => notification(id) },
    ],
    open,
  )}${more > 0 ? html`<p>… and ${more} more.</p>` : ""}`;
}

const seriesTable = ({ step, points }: Proven["series"]): Html =>
  table<Point>(
    `The same in numbers, each row ${duration(step)}`,
    [
      { name: "From", cell: ({ at }) => time(at) },
      { name: "Fell due in it", cell: ({ due }) => due, number: true },
      { name: "Sent in it", cell: ({ sent }) => sent, number: true },
      { name: "Owed at the end of it", cell: ({ owed }) => owed, number: true },
    ],
    points,
  );
