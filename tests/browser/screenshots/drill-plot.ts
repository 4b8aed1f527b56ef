import { colours, type Plot } from "@owed/plot";
import type { Drill, Moment } from "./outage.ts";

/** Minutes of the drill in which what was sent is counted. */
const window = 1;

/** What was owed, and what was sent each minute, with the outage as a band. A second of the drill stands for a minute. */
export function drillPlot({ moments, paused }: Drill): Plot {
  const [band, line] = ["What is owed", "Sent each minute"];
  const values = [
    ...moments.map(({ second, owed }) => ({ minute: round(second), count: owed, what: band })),
    ...sentEach(moments).map(({ second, sent }) => ({ minute: round(second), count: sent, what: line })),
  ];
  const outage = [{ from: round(paused.from), to: round(paused.to) }];
  const x = { field: "minute", type: "quantitative", title: "Minutes" } as const;
  const y = { field: "count", type: "quantitative", title: "Notifications" } as const;
  const color = {
    field: "what",
    type: "nominal",
    title: null,
    scale: { domain: [band, line], range: [colours.ours, colours.bound] },
    legend: { orient: "top-left", symbolType: "stroke" },
  } as const;
  return {
    width: 720,
    height: 260,
    title: {
      text: "A quarter of an hour without a sweep, and the drain",
      subtitle: "A drill on the local stack, on scaled time; the band is the outage",
    },
    layer: [
      {
        data: { values: outage },
        mark: { type: "rect", color: "#9ca3af", opacity: 0.35 },
        encoding: { x: { field: "from", type: "quantitative" }, x2: { field: "to" } },
      },
      {
        data: { values },
        mark: { type: "line", strokeWidth: 2 },
        encoding: {
          ...{ x, y, color },
          strokeDash: {
            field: "what",
            type: "nominal",
            scale: {
              domain: [band, line],
              range: [
                [1, 0],
                [4, 3],
              ],
            },
          },
        },
      },
    ],
  };
}

/** What was sent in each minute, at its end. */
function sentEach(moments: readonly Moment[]): Moment[] {
  const each: Moment[] = [];
  let before = moments[0];
  for (const moment of moments) {
    if (!before || moment.second - before.second < window) continue;
    each.push({ ...moment, sent: Math.round((moment.sent - before.sent) / (moment.second - before.second)) });
    before = moment;
  }
  return each;
}

const round = (minute: number): number => Math.round(minute * 100) / 100;
