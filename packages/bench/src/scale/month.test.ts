import { expect, test } from "vitest";
import { countedWork, production } from "./counted.ts";
import { instances } from "./instances.ts";
import { deployed, type Limit, limitsOf } from "./limits.ts";
import { type Measured, measuredIn } from "./measured.ts";
import { monthOf, productionOf } from "./month.ts";

const measured: Measured = {
  ...{ rowsOfServerCore: 20_000, walPerRow: 1000, rowsOfSweepCore: 10_000 },
  ...{ ingest: 20, deliver: 20, bytesPerRow: 1000 },
};
const counted = { work: countedWork, fixed: production };
const month = (notifications: number, peakFactor = 10) =>
  monthOf(measured, counted, { notifications, peakFactor });

const carried = (limits: readonly Limit[], what: string) =>
  limits.find((limit) => limit.what.startsWith(what))?.carries;

test("each part's limit follows from what was measured and what AWS allows, the least first", () => {
  const limits = limitsOf(measured, productionOf(production));
  // By hand: half of 21.8 MB/s at 4,000 bytes; 0.4 cores, halved for the rest of the work; half of 1,000 writes at 1.2.
  expect(carried(limits, "RDS t4g.small: bytes")).toBeCloseTo(2725);
  expect(carried(limits, "RDS t4g.small: processor")).toBeCloseTo(4000);
  expect(carried(limits, "RDS t4g.small: commits")).toBeCloseTo(416.7, 1);
  // Four batches of ten in 60 ms and 20 ms of a whole core, of which a function of 512 MB has 0.29.
  expect(carried(limits, "deliver: 4 at once")).toBeCloseTo(309.8, 1);
  expect(limits.map(({ carries }) => carries)).toEqual(
    limits.map(({ carries }) => carries).sort((a, b) => a - b),
  );
});

test("a role's connections bound its executions, however many the event source may start", () => {
  const [instance] = instances;
  if (!instance) throw new Error("there is no instance");
  const stage = deployed(instance);
  const many = { ...stage, concurrency: { ...stage.concurrency, deliver: 100 } };
  expect(limitsOf(measured, many).map(({ what }) => what)).toContain("deliver: 8 at once");
});

test("a million a month goes through production as it is, for what the bill says", () => {
  const { first, stage, dollars } = month(1_000_000);
  expect(first).toBeNull();
  expect(stage).toEqual(productionOf(production));
  expect(dollars.reduce((sum, line) => sum + line.dollars, 0)).toBeCloseTo(218.5, 0);
});

test("a hundred million a month meets SES first; with everything raised that must be, nothing of it is met", () => {
  const { first, stage, average, peak, next } = month(100_000_000);
  expect(first?.what).toBe("SES: 50,000 in 24 hours");
  expect(stage.instance.name).toBe("m7g.large");
  expect(stage.storage).toBe(1200);
  const pace = { average, peak };
  for (const limit of limitsOf(measured, stage)) expect(limit.carries).toBeGreaterThanOrEqual(pace[limit.at]);
  expect(next?.what).toMatch(/^SES/);
});

test("what no instance carries is said", () => {
  expect(() => month(100_000_000_000)).toThrow(RangeError);
});

test("runs that lack a benchmark are refused, with what is missing", () => {
  expect(() => measuredIn([])).toThrow(
    "rowsOfServerCore, walPerRow, rowsOfSweepCore, ingest, deliver, bytesPerRow",
  );
});
