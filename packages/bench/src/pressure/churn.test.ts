import { expect, test } from "vitest";
import { growth } from "./churn.ts";

test("growth is the last third's median beside the middle one's", () => {
  expect(growth([90, 90, 90, 10, 20, 30, 10, 40, 50])).toBe(2);
  expect(growth([9, 1, 1])).toBe(1);
});
