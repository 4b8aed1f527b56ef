import { SQSClient } from "@aws-sdk/client-sqs";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { idOf, idsOf, type Publishing, rowsOf, startPublishing } from "../testing/publishing.ts";
import type { Published } from "./publish.ts";

let world: Publishing;
beforeAll(async () => {
  world = await startPublishing();
});
afterEach(() => world.sqs.faults.clear());
afterAll(() => world.stop());

test("whatever fails and however slow: every row has one end, and every group its order", async () => {
  const single = new SQSClient({ maxAttempts: 1 });
  const weather = fc.constantFrom("fine", "fine", "fine", "partial", "refused", "down", "before", "after");
  const arbitrary = fc.record({
    groups: fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 70 }),
    lanes: fc.integer({ min: 1, max: 8 }),
    calls: fc.array(fc.record({ weather, wait: fc.nat({ max: 12 }) }), { minLength: 8, maxLength: 8 }),
    budget: fc.oneof({ weight: 4, arbitrary: fc.constant(99) }, fc.nat({ max: 6 })),
  });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ groups, lanes, calls, budget }) => {
      const rows = rowsOf(groups);
      const place = new Map(rows.map((row, at) => [row.id, at]));
      const groupOf = (id: string) => groups[place.get(id) ?? -1];
      const taken = world.watch();
      const stuck = new Set<number | undefined>();
      const offences: string[] = [];
      world.onSends((entries, call) => {
        const today = calls[call % calls.length];
        if (entries.length === 0 || entries.length > 10) offences.push(`a call of ${entries.length}`);
        if (entries.some((id) => stuck.has(groupOf(id))))
          offences.push("sent past a failed row of its group");
        const bad = today?.weather === "partial" ? entries.filter((_, at) => at % 3 === 1) : entries;
        if (today?.weather !== "fine") for (const id of bad) stuck.add(groupOf(id));
        const slow = { delay: today?.wait ?? 0 };
        switch (today?.weather) {
          case "partial":
            return {
              ...slow,
              failed: (entry) =>
                bad.includes(idOf(entry)) ? { code: "Throttled", message: "x" } : undefined,
            };
          case "refused":
            return { ...slow, error: { status: 400, code: "RequestThrottled", message: "x" } };
          case "down":
            return { ...slow, error: { status: 500, code: "InternalFailure", message: "x" } };
          case "before":
          case "after":
            return { ...slow, drop: today.weather };
          default:
            return slow;
        }
      });
      let may = budget;
      const done: Published = await world.send(rows, { sqs: single, lanes, mayCall: () => may-- > 0 });
      world.sqs.faults.clear();

      expect(offences).toEqual([]);
      const told = [...ids(done.accepted), ...ids(done.released)];
      expect(new Set(told).size).toBe(told.length);
      expect(told.length + done.unsure).toBe(rows.length);
      // What the queue has was accepted, or is unsure; never released, since it would be sent again.
      const inQueue = new Set(taken.flat());
      expect(taken.flat()).toHaveLength(inQueue.size);
      expect(idsOf(done.accepted).filter((id) => !inQueue.has(id))).toEqual([]);
      expect(idsOf(done.released).filter((id) => inQueue.has(id))).toEqual([]);
      for (const group of new Set(groups)) {
        const order = taken
          .flat()
          .filter((id) => groupOf(id) === group)
          .map((id) => place.get(id) ?? -1);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 40 },
  );
});
