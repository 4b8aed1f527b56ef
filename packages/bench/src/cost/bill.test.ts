import { expect, test } from "vitest";
import { costOfUsage, scaled, type Usage } from "./bill.ts";
import { minutesOfMonth } from "./prices.ts";

const usage: Usage = {
  ...{ notifications: 100, minutes: 10, customEvents: 50, emails: 100, statements: 150 },
  sqs: { standard: 200, fifo: 40 },
  functions: { deliver: { invocations: 20, seconds: 4 }, sweep: { invocations: 10, seconds: 1 } },
};

test("a month of the same work has so many times everything, but the schedule's beats", () => {
  expect(scaled(usage, 1_000_000)).toEqual({
    ...{ notifications: 1_000_000, customEvents: 500_000, emails: 1_000_000, statements: 1_500_000 },
    minutes: minutesOfMonth,
    sqs: { standard: 2_000_000, fifo: 400_000 },
    functions: {
      deliver: { invocations: 200_000, seconds: 40_000 },
      sweep: { invocations: 43_800, seconds: expect.closeTo(4380) },
    },
  });
});

test("each kind of use is multiplied by its own price", () => {
  const dollars = Object.fromEntries(
    costOfUsage(scaled(usage, 1_000_000)).map(({ what, dollars }) => [
      what.replace(/:.*/, "") + dollars.toFixed(2),
      what,
    ]),
  );
  // By hand: 100 $ of emails; half a million events; 0.80 + 0.20 $ of requests; 243,800 invocations, 22,190 GB-seconds.
  expect(Object.keys(dollars)).toEqual([
    ...["SES100.00", "EventBridge0.50", "SQS1.00", "Lambda0.05", "Lambda0.30"],
    ...["EventBridge Scheduler0.04", "CloudWatch0.24"],
  ]);
});
