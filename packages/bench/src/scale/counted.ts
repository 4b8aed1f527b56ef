import type { Usage } from "../cost/bill.ts";
import type { Fixed } from "../cost/fixed.ts";

/**
 * What `bench cost` counted while a million notifications a month went their way (30 November 2026, docs/deploy.md), as
 * one million of them: give its JSON to `bench scale` to take what it counts today. Of the seconds only the sum is known,
 * from the bill; how the functions share them is estimated.
 */
export const countedWork: Usage = {
  ...{
    notifications: 1_000_000,
    minutes: 43_800,
    customEvents: 500_000,
    emails: 1_000_000,
    statements: 1_200_000,
  },
  sqs: { standard: 2_050_000, fifo: 410_000 },
  functions: {
    ingest: { invocations: 500_000, seconds: 12_000 },
    sweep: { invocations: 43_800, seconds: 2000 },
    deliver: { invocations: 140_000, seconds: 21_000 },
    feedback: { invocations: 180_000, seconds: 5000 },
  },
};

/** What stands in production whatever is owed, as its synthesis had it then. */
export const production: Fixed = {
  ...{ stage: "production", instance: "t4g.small", instances: 2, storage: 50, endpoints: 5 },
  ...{ alarms: 25, dashboards: 1, metrics: 42, keys: 1, secrets: 1, zones: 1 },
  polled: { standard: 2, fifo: 1 },
};
