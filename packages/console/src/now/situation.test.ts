import type { Beat, Channel, Pulse } from "@owed/ledger";
import { describe, expect, test } from "vitest";
import { lastBeats } from "./heartbeat.ts";
import type { Now } from "./read.ts";
import { situation, sweepMissing } from "./situation.ts";

const at = new Date("2026-03-29T12:00:00Z");
const ago = (seconds: number) => new Date(at.getTime() - seconds * 1000);

const now = (pulse: Partial<Pulse> = {}, closed: readonly string[] = []): Now => ({
  at,
  beats: [],
  acts: [],
  every: 60,
  channels: ["email", "sms"].map((name): Channel => {
    const why = { for: "down", why: "503", since: ago(5), until: null };
    return {
      ...{ name, due: 0, inQueue: 0, rate: null, quota: null, used: null, limitsReadAt: null, failures: 0 },
      ...{ closed: closed.includes(name) ? why : null, timeToDrain: 0 },
    };
  }),
  pulse: {
    ...{ owed: 0, oldestOwedAge: 0, stopped: 0, lastSweepAt: ago(30), paused: null },
    states: { pending: 0, leased: 0, queued: 0, sending: 0, unknown: 0 },
    ...pulse,
  },
});
const paused = { at: ago(600), by: "ada", why: null };

describe("the situation is said in a sentence", () => {
  test.each<[string, Now, string, string]>([
    ["all is well", now({ owed: 3, oldestOwedAge: 20 }), "good", "All is well: what falls due goes out."],
    [
      "paused",
      now({ paused, lastSweepAt: ago(600) }),
      "warn",
      "The sweeps are paused: what falls due waits in the ledger.",
    ],
    [
      "missing",
      now({ lastSweepAt: ago(181) }),
      "bad",
      "No sweep comes to its end: what falls due waits in the ledger.",
    ],
    [
      "none ever",
      now({ lastSweepAt: null }),
      "bad",
      "No sweep comes to its end: what falls due waits in the ledger.",
    ],
    ["closed", now({}, ["sms"]), "bad", "Closed: sms. What is owed there waits."],
    [
      "paused and closed",
      now({ paused }, ["email", "sms"]),
      "warn",
      "The sweeps are paused: what falls due waits in the ledger. Closed: email, sms.",
    ],
    [
      "a backlog",
      now({ owed: 90, oldestOwedAge: 121 }),
      "warn",
      "A backlog drains, the oldest first; fresh rows have their share.",
    ],
  ])("%s", (_name, given, tone, text) => {
    expect(situation(given)).toEqual({ tone, text });
  });

  test("it does not change with each number, or it would be read out each second", () => {
    const said = [1, 2, 30, 119].map((age) => situation(now({ owed: age, oldestOwedAge: age })).text);
    expect(new Set(said).size).toBe(1);
    const missing = [200, 201, 3000].map((age) => situation(now({ lastSweepAt: ago(age) })).text);
    expect(new Set(missing).size).toBe(1);
  });
});

test("a sweep is missing after three beats, unless somebody paused them", () => {
  expect(sweepMissing(now({ lastSweepAt: ago(180) }))).toBe(false);
  expect(sweepMissing(now({ lastSweepAt: ago(181) }))).toBe(true);
  expect(sweepMissing(now({ lastSweepAt: ago(181), paused }))).toBe(false);
});

test("each of the last beats has what became of it", () => {
  const beat = (startedAt: Date, ended: boolean): Beat => ({
    ...{ startedAt, finishedAt: ended ? startedAt : null },
    ...{ leased: 0, published: 0, failed: 0, cancelled: 0, rescued: 0, unknown: 0, resent: 0 },
    ...{ owed: 0, oldestOwedAge: 0, timeToDrain: 0 },
  });
  const beats = [
    beat(ago(10), true),
    // Of two in one beat, the one that came to its end counts, in either order.
    ...[beat(ago(61), false), beat(ago(70), true)],
    ...[beat(ago(125), true), beat(ago(130), false)],
    beat(ago(200), false),
    // Longer ago than is shown, and one that another clock says will be.
    ...[beat(ago(3600), true), beat(ago(-5), false)],
  ];
  const cells = lastBeats({ at, every: 60, beats });
  expect(cells).toHaveLength(30);
  expect(cells.slice(-5)).toEqual(["none", "failed", "ended", "ended", "ended"]);
  expect(new Set(cells.slice(0, -5))).toEqual(new Set(["none"]));
});
