import { render } from "@owed/plot";
import { expect, test } from "vitest";
import type { Figure } from "../figures.ts";
import { bars } from "./bars.ts";
import { markdown } from "./markdown.ts";
import { plotsOf } from "./plots.ts";
import { NotARun, over, type Run, readRuns } from "./runs.ts";
import { flatPlot, sweepPlot } from "./series-plots.ts";

const figure = (value: number): Figure => ({
  name: "speed",
  value,
  unit: "x",
  target: 10,
  sense: "at least",
});
const run = (figures: Figure[]): Run => ({
  benchmark: "all",
  machine: { node: "24", postgres: "18", cpu: "CPU", cores: 2, packages: {} },
  ...{ results: {}, seconds: {}, failed: {}, figures, ok: true },
});

test("the table judges the median, and says which runs missed", () => {
  const rows = (...values: number[]) =>
    markdown(values.map((value) => run([figure(value)])))
      .split("\n")
      .at(-1);
  expect(rows(12, 11, 13)).toBe("| speed | 12 (11 … 13) x | ≥ 10 x | reached |");
  expect(rows(12, 9, 13)).toBe("| speed | 12 (9 … 13) x | ≥ 10 x | reached, missed in 1 of 3 |");
  expect(rows(8, 9, 13)).toBe("| speed | 9 (8 … 13) x | ≥ 10 x | **missed** |");
  expect(rows(Number.NaN)).toBe("| speed | – | ≥ 10 x | **missed** |");
});

test("over several runs the least and the greatest are those of any of them", () => {
  const runs = [3, 1, 2].map((median) => ({ median, min: median - 0.5, max: median + 0.5 }));
  expect(over(runs)).toEqual({ median: 2, min: 0.5, max: 3.5 });
});

test("the same plot is the same bytes, with its text as text and nothing from elsewhere", async () => {
  const title = { text: "Speed: more is better", subtitle: "Median of 3 runs" };
  const plot = () =>
    render(bars(title, "a second", [{ name: "Owed", ours: true, median: 2, min: 1, max: 3 }], 2.5));
  const svg = await plot();
  expect(await plot()).toBe(svg);
  expect(svg).toContain(">Speed: more is better</text>");
  expect(svg).not.toMatch(/(href|src|@import|url\(http)/);
});

test("a point's row, queue and value are told in words", async () => {
  const title = { text: "Title", subtitle: "" };
  const speed = { median: 19_000, min: 18_000, max: 20_000 };
  const sweep = await render(
    sweepPlot(title, [{ queue: "at 8 ms", name: "Owed's sweep", ours: true, ...speed }]),
  );
  for (const text of ["at 8 ms", "Owed's sweep", "19k"]) expect(sweep).toContain(`>${text}</text>`);
  const flat = await render(
    flatPlot(title, [{ name: "the ledger that grows", history: 10_000_000, ...speed }]),
  );
  for (const text of ["10M", "the ledger that grows"]) expect(flat).toContain(`>${text}</text>`);
});

test("what the runs have no results for is not drawn", () => {
  expect([...plotsOf([run([])]).keys()]).toEqual([]);
});

test("another file is refused by its name", async () => {
  const readme = new URL("../../package.json", import.meta.url).pathname;
  await expect(readRuns([readme])).rejects.toThrow(NotARun);
  await expect(readRuns([readme])).rejects.toThrow(readme);
});
