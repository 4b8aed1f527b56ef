import { expect, test } from "vitest";
import { percentile, spread } from "./statistics.ts";

const hundred = Array.from({ length: 100 }, (_, place) => 100 - place);

test.each([
  [0, 1],
  [0.01, 1],
  [0.5, 50],
  [0.501, 51],
  [0.99, 99],
  [1, 100],
])("of 1 to 100, %d of the values lie at or below %d", (share, value) => {
  expect(percentile(hundred, share)).toBe(value);
});

test("numbers are ordered as numbers", () => {
  expect(percentile([10, 9, 100], 0.5)).toBe(10);
});

test("a single value is all of its percentiles", () => {
  expect(spread([1.2345])).toEqual({ min: 1.23, p50: 1.23, p99: 1.23, max: 1.23 });
});

test.each([
  [[], 0.5],
  [[1], 1.1],
  [[1], Number.NaN],
])("refuses %j, %d", (values, share) => {
  expect(() => percentile(values, share)).toThrow(RangeError);
});
