import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { sizes } from "./command.ts";

test("sizes are whole numbers, ascending", () => {
  expect(sizes("100,2000")).toEqual([100, 2000]);
  expect(sizes("5")).toEqual([5]);
});

test.each(["", "0", "2,1", "1,1", "1.5", "a", "1,,2"])("%j is no list of sizes", (text) => {
  expect(() => sizes(text)).toThrow(InvalidArgumentError);
});
