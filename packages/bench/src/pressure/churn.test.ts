import { expect, test } from "vitest";
import { growth } from "./churn.ts";

test("growth is the last third's end beside its beginning", () => {
  expect(growth([90, 90, 90, 10, 20, 30, 10, 40, 50])).toBe(5);
  expect(growth([9, 1, 1])).toBe(1);
});
