import { expect, test } from "vitest";
import { type Figure, figureTable, reached, series, showNumber, showSeries } from "./figures.ts";

const ratio: Figure = { name: "beside the peer", value: 1.3, unit: "x", target: 1.3, sense: "at least" };

test.each<[boolean, Partial<Figure>]>([
  [true, {}],
  [true, { value: 2 }],
  [false, { value: 1.29 }],
  [true, { sense: "at most" }],
  [true, { sense: "at most", value: 1 }],
  [false, { sense: "at most", value: 1.31 }],
  [false, { value: Number.NaN }],
  [false, { value: Number.NaN, sense: "at most" }],
])("reached is %s with %j", (expected, change) => {
  expect(reached({ ...ratio, ...change })).toBe(expected);
});

test("a series has the median, the least and the greatest of its runs", () => {
  expect(series([3, 10, 2.00004])).toEqual({ median: 3, min: 2, max: 10 });
  expect(series([2, 1])).toEqual({ median: 1, min: 1, max: 2 });
  expect(() => series([])).toThrow(RangeError);
});

test.each([
  [0, "0"],
  [0.00412, "0.00412"],
  [1.3, "1.3"],
  [999.6, "1000"],
  [9994, "9994"],
  [26_640, "26.6k"],
  [400_000, "400k"],
  [10_000_000, "10.0M"],
])("%d reads %s", (value, text) => {
  expect(showNumber(value)).toBe(text);
});

test("a series reads as its median with the range", () => {
  expect(showSeries({ median: 26_640, min: 900, max: 30_000 })).toBe("26.6k (900 … 30k)");
});

test("the table says which figures are missed", () => {
  const lines = figureTable([
    ratio,
    { ...ratio, name: "WAL", value: 1200, target: 1100, sense: "at most" },
  ]).split("\n");
  expect(lines.find((line) => line.includes("beside the peer"))).toMatch(/1\.3 x .* ≥ 1\.3 x .*reached/);
  expect(lines.find((line) => line.includes("WAL"))).toMatch(/1200 x .* ≤ 1100 x .*MISSED/);
});
