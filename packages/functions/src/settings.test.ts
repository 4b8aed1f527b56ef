import { defaultDurations } from "@owed/ledger";
import { expect, test } from "vitest";
import { InvalidSettings, parseSettings } from "./settings.ts";

const defaults = {
  sweep: { budget: 50, slice: 1000, lanes: 16 },
  deliver: { call: 10, receives: 5, callBefore: 45, reserve: 5 },
  durations: defaultDurations,
};

test("nothing given: the defaults, and they keep the protocol's order of durations", () => {
  expect(parseSettings({})).toEqual(defaults);
  expect(parseSettings({ type: "sst.sst.Linkable", sweep: {}, deliver: {}, durations: {} })).toEqual(
    defaults,
  );
  const { sweep, deliver, durations } = defaults;
  // Function timeouts 60 and 30 s, visibility 180 s, deduplication window 300 s.
  const grow = (...seconds: number[]) => expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
  grow(sweep.budget, 60, durations.lease, 300);
  grow(deliver.call, deliver.callBefore, durations.sendLease, 180, durations.grace, durations.lostAfter);
  grow(durations.heartbeat, 60);
});

test("each setting can be overridden alone", () => {
  expect(parseSettings({ sweep: { slice: 10 }, durations: { grace: 0.5 } })).toEqual({
    ...defaults,
    sweep: { ...defaults.sweep, slice: 10 },
    durations: { ...defaults.durations, grace: 0.5 },
  });
});

test.each([
  ["sweeps", { sweeps: { slice: 10 } }],
  ["sweep.size", { sweep: { size: 10 } }],
  ["sweep.budget", { sweep: { budget: 0 } }],
  ["sweep.slice", { sweep: { slice: 0 } }],
  ["sweep.slice", { sweep: { slice: 1.5 } }],
  ["sweep.slice", { sweep: { slice: 10_001 } }],
  ["sweep.lanes", { sweep: { lanes: 65 } }],
  ["sweep.lanes", { sweep: { lanes: "16" } }],
  ["deliver.call", { deliver: { call: -1 } }],
  ["deliver.receives", { deliver: { receives: 1 } }],
  ["durations.lease", { durations: { lease: null } }],
  ["durations.queueEmpty", { durations: { queueEmpty: Number.NaN } }],
  ["sweep", { sweep: "fast" }],
  ["settings", null],
  ["settings", "{}"],
])("a wrong %s is named", (name, given) => {
  expect(() => parseSettings(given)).toThrow(InvalidSettings);
  expect(() => parseSettings(given)).toThrow(`wrong settings: ${name}: `);
});

test.each([
  ["sweep.budget must be less than durations.heartbeat", { sweep: { budget: 60 } }],
  ["durations.heartbeat must be less than durations.lease", { durations: { lease: 60 } }],
  ["durations.lease must be less than 300", { durations: { lease: 300 } }],
  [
    "deliver.callBefore and deliver.call together must not exceed durations.sendLease",
    { deliver: { callBefore: 51 } },
  ],
  ["deliver.call and deliver.reserve together must not exceed 15", { deliver: { reserve: 6 } }],
])("a time that must outlast another one does: %s", (message, given) => {
  expect(() => parseSettings(given)).toThrow(`wrong settings: settings: ${message}`);
});

test("all that are wrong are named, with the way out", () => {
  expect(() => parseSettings({ sweep: { budget: "x" }, deliver: { receives: 0 } })).toThrow(
    /^wrong settings: sweep\.budget: .*; deliver\.receives: .*; correct the linked 'Settings'$/,
  );
});
