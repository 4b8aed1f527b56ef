import { defaultDurations } from "@owed/ledger";
import { expect, test } from "vitest";
import { InvalidSettings, parseSettings } from "./settings.ts";

const defaults = {
  sweep: { budget: 50, slice: 1000, lanes: 20, every: 60, queued: 50_000, freshShare: 0.5, probe: 10 },
  deliver: { concurrency: 4, call: 10, receives: 5, callBefore: 45, reserve: 5 },
  channel: {
    failures: 4,
    breaker: 30,
    breakerMost: 120,
    quota: 900,
    account: 300,
    limits: 300,
  },
  ingest: { atOnce: true },
  limits: {},
  retention: { days: 90, refusedDays: 30 },
  durations: defaultDurations,
};

test("nothing given: the defaults, and they keep the protocol's order of durations", () => {
  expect(parseSettings({})).toEqual(defaults);
  expect(parseSettings({ type: "sst.sst.Linkable", sweep: {}, deliver: {}, durations: {} })).toEqual(
    defaults,
  );
  const { sweep, deliver, channel, durations } = defaults;
  // Function timeouts 60 and 30 s, visibility 180 s, deduplication window 300 s.
  const grow = (...seconds: number[]) => expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
  grow(sweep.budget, 60, durations.lease, 300);
  grow(deliver.call, deliver.callBefore, durations.sendLease, 180, durations.grace, durations.lostAfter);
  grow(durations.heartbeat, 60);
  grow(sweep.every, durations.lostAfter);
  // A provider that is down closes its channel before a row has spent its receives.
  expect(channel.failures).toBeLessThan(deliver.receives);
});

test("each setting can be overridden alone", () => {
  expect(parseSettings({ sweep: { slice: 10 }, durations: { grace: 0.5 } })).toEqual({
    ...defaults,
    sweep: { ...defaults.sweep, slice: 10 },
    durations: { ...defaults.durations, grace: 0.5 },
  });
  expect(parseSettings({ limits: { email: { rate: 14 }, sms: { quota: 200 } } }).limits).toEqual({
    email: { rate: 14, quota: null },
    sms: { rate: null, quota: 200 },
  });
  expect(parseSettings({ retention: { days: null } }).retention).toEqual({ days: null, refusedDays: 30 });
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
  ["sweep.every", { sweep: { every: 0 } }],
  ["sweep.queued", { sweep: { queued: 0 } }],
  ["sweep.freshShare", { sweep: { freshShare: 1.1 } }],
  ["sweep.freshShare", { sweep: { freshShare: -0.1 } }],
  ["sweep.probe", { sweep: { probe: 0 } }],
  ["deliver.concurrency", { deliver: { concurrency: 0 } }],
  ["deliver.call", { deliver: { call: -1 } }],
  ["deliver.receives", { deliver: { receives: 1 } }],
  ["channel.failures", { channel: { failures: 0 } }],
  ["channel.breaker", { channel: { breaker: 0 } }],
  ["limits.email.rate", { limits: { email: { rate: 0 } } }],
  ["limits.email.quota", { limits: { email: { quota: 1.5 } } }],
  ["limits.email.speed", { limits: { email: { speed: 1 } } }],
  ["retention.days", { retention: { days: 14 } }],
  ["retention.refusedDays", { retention: { refusedDays: null } }],
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
  ["sweep.every must be less than durations.lostAfter", { sweep: { every: 1200 } }],
  ["channel.breaker must not exceed channel.breakerMost", { channel: { breakerMost: 29 } }],
  ["deliver.call and deliver.reserve together must not exceed 15", { deliver: { reserve: 6 } }],
])("a time that must outlast another one does: %s", (message, given) => {
  expect(() => parseSettings(given)).toThrow(`wrong settings: settings: ${message}`);
});

test("all that are wrong are named, with the way out", () => {
  expect(() => parseSettings({ sweep: { budget: "x" }, deliver: { receives: 0 } })).toThrow(
    /^wrong settings: sweep\.budget: .*; deliver\.receives: .*; correct the linked 'Settings'$/,
  );
});
