import { colours, type Plot } from "@owed/plot";
import { type Series, showNumber } from "../figures.ts";
import type { Heading } from "./bars.ts";

const ours = {
  field: "ours",
  type: "nominal",
  scale: { domain: [true, false], range: [colours.ours, colours.others] },
  legend: null,
} as const;

/** Points, since a logarithmic scale has no zero for bars to begin at. */
export function sweepPlot(
  title: Heading,
  points: readonly ({ queue: string; name: string; ours: boolean } & Series)[],
): Plot {
  const x = {
    type: "quantitative",
    scale: { type: "log", nice: true },
    title: "rows a second, logarithmic",
  } as const;
  return {
    title,
    data: { values: points.map((point) => ({ ...point, label: showNumber(point.median) })) },
    facet: {
      row: {
        field: "queue",
        type: "nominal",
        sort: null,
        title: null,
        header: { labelAngle: 0, labelOrient: "top" },
      },
    },
    spec: {
      width: 520,
      height: { step: 30 },
      encoding: {
        y: {
          field: "name",
          type: "nominal",
          sort: null,
          title: null,
          axis: { domain: false, ticks: false, grid: true },
        },
      },
      layer: [
        {
          mark: { type: "rule", strokeWidth: 1.5 },
          encoding: { x: { ...x, field: "min" }, x2: { field: "max" } },
        },
        {
          mark: { type: "point", filled: true, size: 90, opacity: 1 },
          encoding: { x: { ...x, field: "median" }, color: ours },
        },
        {
          mark: { type: "text", dy: -12 },
          encoding: { x: { ...x, field: "median" }, text: { field: "label" } },
        },
      ],
    },
  };
}

/** Such as 10M. */
const compact = new Intl.NumberFormat("en", { notation: "compact" });

export function flatPlot(
  title: Heading,
  points: readonly ({ name: string; history: number } & Series)[],
): Plot {
  const x = {
    field: "size",
    type: "ordinal",
    sort: null,
    title: "rows of history in the ledger that grows",
    axis: { labelAngle: 0 },
  } as const;
  const names = [...new Set(points.map(({ name }) => name))];
  const color = {
    field: "name",
    type: "nominal",
    scale: { domain: names, range: [colours.ours, colours.others] },
    legend: { title: null, orient: "bottom", direction: "vertical" },
  } as const;
  // Side by side, so that neither hides the other.
  const xOffset = {
    field: "name",
    type: "nominal",
    scale: { domain: names, paddingInner: 0.85, paddingOuter: 4 },
  } as const;
  return {
    title,
    width: 520,
    height: 260,
    data: {
      values: points.map((point) => ({ ...point, size: compact.format(point.history).replace("K", "k") })),
    },
    encoding: { x, xOffset, color },
    layer: [
      {
        mark: { type: "line", strokeWidth: 1.5 },
        encoding: {
          y: {
            field: "median",
            type: "quantitative",
            title: "rows leased and marked a second",
            scale: { zero: true },
          },
        },
      },
      {
        mark: { type: "rule", strokeWidth: 1.5 },
        encoding: { y: { field: "min", type: "quantitative" }, y2: { field: "max" } },
      },
      {
        mark: { type: "point", filled: true, size: 70, opacity: 1 },
        encoding: { y: { field: "median", type: "quantitative" } },
      },
    ],
  };
}
