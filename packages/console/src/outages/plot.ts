import { duration } from "@owed/cli/text/time";
import { plural } from "@owed/cli/text/words";
import type { Outage } from "@owed/ledger";
import type { Plot } from "@owed/plot";

const owed = "owed at the end of it";
const due = "fell due in it";
const sent = "sent in it";
/** Told apart by colour-blind eyes as well (Okabe and Ito), and by their dashes without any colour. */
const lines = [
  { name: owed, colour: "#0072b2", dash: [1, 0] },
  { name: due, colour: "#9a3412", dash: [2, 3] },
  { name: sent, colour: "#00724f", dash: [8, 3] },
];

const perPoint = (step: number): string => (step === 60 ? "each minute" : `each ${duration(step)}`);

/** Owed, due and sent, minute by minute, with the outage's span marked. */
export function plotOf({ from, to, series: { step, points } }: Outage): Plot {
  const last = points.at(-1)?.at ?? from;
  // A line is drawn from point to point: the first one's end, and the last one's.
  const until = new Date(Math.max(last.getTime(), to?.getTime() ?? 0) + step * 1000);
  const values = points.flatMap(({ at, ...counts }) => [
    { at: at.getTime(), rows: counts.owed, line: owed },
    { at: at.getTime(), rows: counts.due, line: due },
    { at: at.getTime(), rows: counts.sent, line: sent },
  ]);
  const span = [{ from: from.getTime(), to: (to ?? until).getTime(), label: "no sweep" }];
  const format = until.getTime() - from.getTime() > 86_400_000 ? "%-d %b %H:%M" : "%H:%M";
  const x = { type: "temporal", scale: { type: "utc" }, title: "time, UTC", axis: { format } } as const;
  return {
    width: 640,
    height: 260,
    title: {
      text: `Notifications, ${perPoint(step)}`,
      subtitle: "The shaded span had no sweep that worked",
    },
    layer: [
      {
        data: { values: span },
        mark: { type: "rect", color: "#6b7280", opacity: 0.22 },
        encoding: { x: { field: "from", ...x }, x2: { field: "to" } },
      },
      {
        data: { values: span },
        mark: { type: "text", align: "left", baseline: "top", dx: 4, dy: 4 },
        encoding: { x: { field: "from", ...x }, y: { value: 0 }, text: { field: "label" } },
      },
      {
        data: { values },
        mark: { type: "line", interpolate: "step-after", strokeWidth: 2 },
        encoding: {
          x: { field: "at", ...x },
          y: { field: "rows", type: "quantitative", title: "notifications", axis: { tickMinStep: 1 } },
          color: {
            field: "line",
            type: "nominal",
            scale: { domain: lines.map(({ name }) => name), range: lines.map(({ colour }) => colour) },
            legend: { title: null, orient: "bottom" },
          },
          strokeDash: {
            field: "line",
            type: "nominal",
            scale: { domain: lines.map(({ name }) => name), range: lines.map(({ dash }) => dash) },
          },
        },
      },
    ],
  };
}

/** What the plot shows, for whoever can't see it. The numbers are in the table. */
export function inWords({ from, to, seconds, series: { points } }: Outage): string {
  const most = points.reduce((peak, point) => (point.owed > peak.owed ? point : peak), {
    at: from,
    owed: 0,
  });
  const left = points.at(-1)?.owed ?? 0;
  const span = to ? `for ${duration(seconds)} no sweep worked` : "no sweep has worked since";
  const peak = most.owed === 0 ? "nothing was owed" : `up to ${plural(most.owed, "notification")} were owed`;
  return `Plot of notifications owed, fallen due and sent: from ${from.toISOString()} ${span}, ${peak}, and ${left} at its end.`;
}

/** Vega is loaded for the first plot, not for the first page. */
export async function draw(outage: Outage): Promise<string> {
  const { render } = await import("@owed/plot");
  return render(plotOf(outage));
}
