import type { Outage } from "@owed/ledger";
import { expect, test } from "vitest";
import { draw, inWords } from "./plot.ts";

const from = new Date("2026-03-29T09:30:20Z");
const later = (minutes: number) => new Date(from.getTime() + minutes * 60_000);
const counted = {
  ...{
    due: 0,
    sent: 0,
    expired: 0,
    superseded: 0,
    optedOut: 0,
    suppressed: 0,
    erased: 0,
    cancelled: 0,
    dead: 0,
  },
  ...{ stillOwed: 0, late: { p50: null, p95: null, max: null }, lateByMinutes: 0 },
  ...{ unknown: 0, perhapsTwice: 0, twice: 0 },
};
/** An hour in which one a minute fell due, all of them sent in the sixty-first. */
const outage = (change: Partial<Outage> = {}): Outage => ({
  ...{ from, to: later(60), seconds: 3600, failed: 0, pauses: [] },
  ...{ all: counted, channels: [], deadFor: [], stillOwed: [], recoveredAt: null, recovery: null },
  ...{ addsUp: true, nothingOwed: true },
  oldSender: { due: 0, sent: 0, cancelled: 0, dead: 0, waiting: 0 },
  series: {
    step: 60,
    points: Array.from({ length: 62 }, (_, minute) => ({
      at: later(minute),
      owed: minute < 60 ? minute + 1 : 0,
      due: minute < 60 ? 1 : 0,
      sent: minute === 60 ? 60 : 0,
    })),
  },
  ...change,
});

test("the plot has its lines, its span and its times in UTC, and no style that a policy would forbid", async () => {
  const svg = await draw(outage());
  for (const text of [
    "owed at the end of it",
    "fell due in it",
    "sent in it",
    "no sweep",
    "time, UTC",
    "10:00",
  ])
    expect(svg).toContain(text);
  expect(svg.match(/stroke-dasharray="/g)?.length).toBeGreaterThan(1);
  expect(svg).not.toMatch(/style=|<style|<script|xlink:href/);
  expect(await draw(outage())).toBe(svg);
});

test("a day has 24 hours", async () => {
  const evening = new Date("2026-03-29T20:30:00Z");
  const points = [0, 1, 2].map((hour) => ({
    ...{ owed: 1, due: 0, sent: 0 },
    at: new Date(evening.getTime() + hour * 3_600_000),
  }));
  const late = outage({ from: evening, to: null, series: { step: 60, points } });
  expect(await draw(late)).toContain("22:00");
});

test("points further apart are said to be, and an outage without any is drawn", async () => {
  const long = outage({ series: { step: 300, points: [] } });
  expect(await draw(long)).toContain("Notifications, each 5 min");
});

test("in words, for whoever can't see it", () => {
  expect(inWords(outage())).toBe(
    "Plot of notifications owed, fallen due and sent: from 2026-03-29T09:30:20.000Z for 1 h no sweep worked, up to 60 notifications were owed, and 0 at its end.",
  );
  const open = outage({ to: null, series: { step: 60, points: [] } });
  expect(inWords(open)).toMatch(/no sweep has worked since, nothing was owed, and 0 at its end\.$/);
});
