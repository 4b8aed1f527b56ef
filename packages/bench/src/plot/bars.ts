import { colours, type Plot } from "@owed/plot";
import { type Series, showNumber } from "../figures.ts";

export type Bar = { name: string; ours: boolean } & Series;

/** What every plot says: what is shown, which direction is better, and of how many runs. */
export type Heading = { text: string; subtitle: string };

/** One bar each, its median as text, the least and the greatest as a line. */
export function bars(title: Heading, unit: string, all: readonly Bar[], bound?: number): Plot {
  const values = all.map((bar) => ({ ...bar, label: showNumber(bar.median) }));
  const y = {
    field: "name",
    type: "nominal",
    sort: null,
    title: null,
    axis: { domain: false, ticks: false },
  } as const;
  const x = { field: "median", type: "quantitative", title: unit } as const;
  return {
    title,
    width: 520,
    height: { step: 34 },
    data: { values },
    encoding: { y },
    layer: [
      {
        mark: { type: "bar", height: 20 },
        encoding: {
          x,
          color: {
            field: "ours",
            type: "nominal",
            scale: { domain: [true, false], range: [colours.ours, colours.others] },
            legend: null,
          },
        },
      },
      {
        mark: { type: "rule", strokeWidth: 1.5 },
        encoding: { x: { field: "min", type: "quantitative" }, x2: { field: "max" } },
      },
      {
        mark: { type: "text", align: "left", dx: 6 },
        encoding: { x: { field: "max", type: "quantitative" }, text: { field: "label" } },
      },
      {
        // The target.
        data: { values: bound === undefined ? [] : [{ bound }] },
        mark: { type: "rule", strokeDash: [4, 3], color: colours.bound },
        encoding: {
          x: { field: "bound", type: "quantitative" },
          y: { value: 0 },
          y2: { value: "height" },
        },
      },
    ],
  };
}
