import { expect, test } from "vitest";
import { SendQuota } from "./quota.ts";

const HOUR = 3_600_000;

test("a send counts for 24 hours", () => {
  const quota = new SendQuota();
  quota.take(1, 0);
  quota.take(2, 12 * HOUR);
  expect(quota.sentLast24Hours(24 * HOUR - 1)).toBe(3);
  expect(quota.sentLast24Hours(24 * HOUR)).toBe(2);
  expect(quota.sentLast24Hours(36 * HOUR)).toBe(0);
});

test("the rate comes back with time and is never more than a second's", () => {
  const quota = new SendQuota({ maxSendRate: 10, enforced: true });
  const throttled = "Maximum sending rate exceeded.";
  const start = 100 * HOUR;
  const takes = (at: number, times: number) =>
    Array.from({ length: times }, () => quota.take(1, start + at)).filter((why) => why === throttled).length;
  expect(takes(0, 12)).toBe(2);
  expect(takes(500, 6)).toBe(1);
  expect(takes(60_000, 12)).toBe(2);
});
