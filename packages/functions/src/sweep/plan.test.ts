import type { ChannelLoad } from "@owed/ledger";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSettings } from "../settings.ts";
import { plan } from "./plan.ts";

const load = (more: Partial<ChannelLoad> = {}): ChannelLoad => ({
  channel: "email",
  due: 100_000,
  inQueue: 0,
  rate: 10,
  quotaLeft: null,
  limitsAge: 0,
  closed: false,
  probing: false,
  ...more,
});
const planOf = (loads: ChannelLoad[], sweep: Record<string, number> = {}) =>
  plan(loads, parseSettings({ sweep }));

describe("one channel, by the defaults", () => {
  test.each<[string, Partial<ChannelLoad>, number]>([
    ["what its provider takes in a minute", {}, 600],
    ["less what the queue has", { inQueue: 590 }, 10],
    ["nothing, while the queue has enough", { inQueue: 600 }, 0],
    ["nothing, while the queue has too much", { inQueue: 5000 }, 0],
    ["a row, where the rate is less than one a beat", { rate: 0.001 }, 1],
    ["and no second one", { rate: 0.001, inQueue: 1 }, 0],
    ["50,000 where no rate is known", { rate: null }, 50_000],
    ["what the quota has left", { quotaLeft: 7 }, 7],
    ["of that, what the queue does not have", { quotaLeft: 7, inQueue: 5 }, 2],
    ["nothing, when the quota is used up", { quotaLeft: 0 }, 0],
    ["nothing, when it is closed", { closed: true }, 0],
    ["nothing, when nothing is due", { due: 0 }, 0],
    ["ten rows that probe the provider", { probing: true }, 10],
    ["fewer of them, where the quota has fewer", { probing: true, quotaLeft: 3 }, 3],
  ])("gets %s", (_, more, most) => {
    expect(planOf([load(more)]).all).toEqual(most === 0 ? [] : [{ channel: "email", most }]);
  });

  test.each<[string, Partial<ChannelLoad>, Record<string, number>, number]>([
    ["half", {}, {}, 300],
    ["rounded down", { rate: 0.05 }, {}, 1],
    ["none, where all that is due goes out anyway", { due: 600 }, {}, 0],
    ["as set: all", {}, { freshShare: 1 }, 600],
    ["as set: none", {}, { freshShare: 0 }, 0],
  ])("keeps for fresh rows %s", (_, more, sweep, most) => {
    expect(planOf([load(more)], sweep).fresh).toEqual(most === 0 ? [] : [{ channel: "email", most }]);
  });
});

const count = fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 200_000 }));
const anyLoad = fc.record({
  due: count,
  inQueue: count,
  rate: fc.option(fc.double({ min: 0.001, max: 2000, noNaN: true })),
  quotaLeft: fc.option(count),
  limitsAge: fc.constant(0),
  closed: fc.boolean(),
  probing: fc.boolean(),
});
const anySweep = fc.record({
  every: fc.integer({ min: 1, max: 199 }),
  queued: fc.integer({ min: 1, max: 50_000 }),
  freshShare: fc.double({ min: 0, max: 1, noNaN: true }),
  probe: fc.integer({ min: 1, max: 1000 }),
});

test("whatever the channels have before them: no bound is passed, nothing is left unused, each is planned alone", () => {
  fc.assert(
    fc.property(fc.array(anyLoad, { maxLength: 8 }), anySweep, (given, sweep) => {
      const loads = given.map((one, place) => ({ ...one, channel: `channel_${place}` }));
      const made = planOf(loads, sweep);
      expect(made.all.map(({ channel }) => channel)).toEqual([
        ...new Set(made.all.map(({ channel }) => channel)),
      ]);
      for (const one of loads) {
        const most = made.all.find(({ channel }) => channel === one.channel)?.most ?? 0;
        const fresh = made.fresh.find(({ channel }) => channel === one.channel)?.most ?? 0;
        expect(planOf([one], sweep).all).toEqual(most === 0 ? [] : [{ channel: one.channel, most }]);
        expect([Number.isInteger(most), Number.isInteger(fresh), most >= 0, fresh >= 0]).toEqual(
          Array(4).fill(true),
        );
        const allowed = (rows: number) =>
          !one.closed &&
          one.due > 0 &&
          one.inQueue + rows <= (one.rate === null ? sweep.queued : Math.max(1, one.rate * sweep.every)) &&
          (one.quotaLeft === null || one.inQueue + rows <= one.quotaLeft) &&
          (!one.probing || rows <= sweep.probe);
        if (most > 0) expect(allowed(most)).toBe(true);
        expect(allowed(most + 1)).toBe(false);
        // Fresh rows have their part of a channel's rows, where these are not enough for all.
        expect(fresh).toBe(one.due > most ? Math.floor(most * sweep.freshShare) : 0);
      }
    }),
  );
});
