import { parse, resetSVGDefIds, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";

/** Ours, the others', and what is only to be compared with; told apart by colour-blind eyes as well (Okabe and Ito). */
export const colours = { ours: "#0072b2", others: "#e69f00", bound: "#9a3412" };

/** On a light and on a dark page alike: a ground of its own, and text that stands out from it. */
const config = {
  background: "#f3f4f6",
  padding: 16,
  font: "system-ui, sans-serif",
  view: { stroke: null },
  title: {
    anchor: "start",
    fontSize: 15,
    subtitleFontSize: 12,
    color: "#111827",
    subtitleColor: "#374151",
    offset: 14,
  },
  axis: {
    labelColor: "#1f2937",
    titleColor: "#1f2937",
    gridColor: "#d1d5db",
    domainColor: "#9ca3af",
    tickColor: "#9ca3af",
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: "normal",
    labelLimit: 320,
  },
  header: { labelColor: "#111827", labelFontSize: 12, labelAnchor: "start" },
  legend: { labelColor: "#1f2937", titleColor: "#1f2937", labelFontSize: 12, labelLimit: 320 },
  text: { color: "#111827", fontSize: 12 },
  rule: { color: "#111827" },
} as const;

export type Plot = TopLevelSpec;

/** An SVG with text as text. The same plot is the same bytes; nothing is loaded, and no font measured. */
export async function render(plot: Plot): Promise<string> {
  // Numbers in the definitions' names go on from plot to plot.
  resetSVGDefIds();
  const { spec } = compile({ ...plot, config });
  const view = new View(parse(spec), { renderer: "none" });
  try {
    return `${await view.toSVG()}\n`;
  } finally {
    view.finalize();
  }
}
