import { colours, type Plot } from "@owed/plot";
import { series, showNumber } from "../figures.ts";
import type { Result } from "../latency/command.ts";
import type { Heading } from "./bars.ts";

const whole = "event to acceptance";

/** The medians of the stages one after the other; and half, and 99 of 100, of the events as a whole. */
export function latencyPlot(title: Heading, results: readonly Result[]): Plot {
  const names = results[0]?.stages.map(({ name }) => name) ?? [];
  // What is written after the acceptance is told in brackets, and is no part of the way to it.
  const parts = names.filter((name) => name !== whole && !name.startsWith("("));
  const over = (name: string, of: "p50" | "p99") =>
    series(
      results.flatMap(({ stages }) =>
        stages.filter((one) => one.name === name).map(({ milliseconds }) => milliseconds[of]),
      ),
    );
  const values = [
    ...parts.map((name, place) => ({ row: "p50 of each stage", name, place, ...over(name, "p50") })),
    ...(["p50", "p99"] as const).map((of) => ({
      row: `the whole way, ${of}`,
      name: whole,
      place: 0,
      ...over(whole, of),
    })),
  ];
  const wholes = values
    .filter(({ name }) => name === whole)
    .map((value) => ({ ...value, label: `${showNumber(value.median)} ms` }));
  const y = {
    field: "row",
    type: "nominal",
    sort: null,
    title: null,
    axis: { domain: false, ticks: false },
  } as const;
  const range = ["#0072b2", "#56b4e9", "#009e73", "#f0e442", "#e69f00", "#d55e00", "#cc79a7"];
  return {
    title,
    width: 520,
    height: { step: 40 },
    data: { values },
    encoding: { y },
    layer: [
      {
        mark: { type: "bar", height: 22 },
        encoding: {
          x: { field: "median", type: "quantitative", stack: "zero", title: "milliseconds" },
          order: { field: "place", type: "quantitative" },
          color: {
            field: "name",
            type: "nominal",
            scale: { domain: [...parts, whole], range: [...range.slice(0, parts.length), "#6b7280"] },
            legend: { title: null, orient: "bottom", columns: 2 },
          },
        },
      },
      {
        data: { values: wholes },
        mark: { type: "rule", strokeWidth: 1.5, color: colours.bound },
        encoding: { x: { field: "min", type: "quantitative" }, x2: { field: "max" } },
      },
      {
        data: { values: wholes },
        mark: { type: "text", align: "left", dx: 6 },
        encoding: { x: { field: "max", type: "quantitative" }, text: { field: "label" } },
      },
    ],
  };
}
