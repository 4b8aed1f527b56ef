import { expect, test } from "vitest";
import { seededRandom } from "./random.ts";

const draw = (seed: number, count: number) => Array.from({ length: count }, seededRandom(seed));

test("a seed gives the same numbers again, another seed others", () => {
  expect(draw(7, 5)).toEqual(draw(7, 5));
  expect(draw(7, 5)).not.toEqual(draw(8, 5));
});

test("the numbers are spread evenly from 0 to 1", () => {
  const tenths = Map.groupBy(draw(1, 10_000), (number) => Math.floor(number * 10));
  expect([...tenths.keys()].toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const numbers of tenths.values()) expect(Math.abs(numbers.length - 1000)).toBeLessThan(150);
});
