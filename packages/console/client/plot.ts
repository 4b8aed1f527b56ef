import uPlot from "/assets/uplot.js";

/** A colour of the page, as it is in light or dark now. */
const colourOf = (name: string): string => {
  const swatch = document.querySelector(`.swatch.${name}`);
  return swatch ? getComputedStyle(swatch).color : "gray";
};

const options = (width: number): uPlot.Options => {
  const text = getComputedStyle(document.body).color;
  const grid = { stroke: "#88888866", width: 1 };
  const axis = { stroke: text, grid, ticks: grid };
  return {
    width,
    height: 280,
    // Times stand in UTC on every page.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(10, most * 1.05)] } },
    axes: [
      { ...axis, values: (_plot, at) => at.map(clock) },
      { ...axis, size: 60 },
    ],
    series: [
      { label: "UTC", value: "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" },
      {
        label: "owed",
        stroke: colourOf("owed"),
        fill: faint(colourOf("owed")),
        width: 2,
        points: { show: false },
      },
      { label: "late", stroke: colourOf("late"), width: 2, dash: [6, 4], points: { show: false } },
      {
        label: "sent",
        stroke: colourOf("sent"),
        fill: colourOf("sent"),
        paths: bars,
        points: { show: false },
      },
    ],
  };
};

const bars = uPlot.paths.bars?.({ size: [0.6, 12] }) ?? (() => null);

const faint = (colour: string): string => colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.15)");

/** The time of day, in UTC. */
const clock = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(11, 16);

/** Draws owed, late and sent into an element, as wide as it is. Returns what shows other points. */
export function createPlot(place: HTMLElement): (series: uPlot.AlignedData) => void {
  let plot: uPlot | null = null;
  let shown: uPlot.AlignedData | null = null;
  const draw = () => {
    plot?.destroy();
    plot = shown && new uPlot(options(place.clientWidth), shown, place);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new ResizeObserver(() => {
    if (plot && plot.width !== place.clientWidth) plot.setSize({ width: place.clientWidth, height: 280 });
  }).observe(place);
  return (series) => {
    shown = series;
    if (plot) plot.setData(series);
    else draw();
  };
}
