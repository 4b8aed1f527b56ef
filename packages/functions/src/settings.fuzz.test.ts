import fc from "fast-check";
import { expect, test } from "vitest";
import { cost, isPlainReason, longTexts, mutated, tally } from "../../../tests/hostile/arbitraries.ts";
import { InvalidSettings, parseSettings } from "./settings.ts";

const seen = tally("settings", "a setting is wrong", "an order is wrong");

/** Around the defaults, each left out or given. */
const valid = fc.record(
  {
    type: fc.constant("sst.sst.Linkable"),
    sweep: fc.record(
      {
        budget: fc.double({ min: 1, max: 70, noNaN: true }),
        slice: fc.integer({ min: 1, max: 2_000 }),
        every: fc.constantFrom(1, 60, 300),
      },
      { requiredKeys: [] },
    ),
    deliver: fc.record(
      { call: fc.constantFrom(0.1, 5, 10, 12), receives: fc.integer({ min: 2, max: 9 }) },
      { requiredKeys: [] },
    ),
    limits: fc.dictionary(
      fc.constantFrom("email", "sms", "constructor", "toString", "\0", ""),
      fc.record(
        { rate: fc.constantFrom(null, 0.5, 14), quota: fc.constantFrom(null, 200) },
        { requiredKeys: [] },
      ),
    ),
    ingest: fc.record({ atOnce: fc.boolean() }, { requiredKeys: [] }),
    retention: fc.record(
      { days: fc.constantFrom(null, 15, 90, 400), refusedDays: fc.integer({ min: 1, max: 90 }) },
      { requiredKeys: [] },
    ),
    durations: fc.record(
      { lease: fc.constantFrom(120, 200, 400), grace: fc.constantFrom(0.1, 900, 1e6, 1e300) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const numbersOf = (value: unknown): number[] =>
  typeof value === "number"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(numbersOf)
      : [];

/** What is refused: each field, what it must be, and never what it was. */
const refusal = /^wrong settings: [!-~]+: (must be|is)[ -~]+; correct the linked 'Settings'$/;
const order = /^wrong settings: settings: [a-z]+\.[a-zA-Z]+ [ -~]+; correct the linked 'Settings'$/;

test("any settings are within what timers and intervals take, or refused by name and unquoted", () => {
  fc.assert(
    fc.property(mutated(fc.oneof(valid, fc.constant({}))), (given) => {
      try {
        const settings = parseSettings(given);
        seen.count("settings");
        expect(Object.keys(settings).toSorted()).toEqual([
          "channel",
          "deliver",
          "durations",
          "ingest",
          "limits",
          "retention",
          "sweep",
        ]);
        // Seconds and counts alike. A provider's limits are bounded where they are kept.
        const { limits: _, ...others } = settings;
        for (const number of numbersOf(others))
          expect(number >= 0 && number <= 1_209_600, String(number)).toBe(true);
        expect(parseSettings(settings)).toEqual(settings);
      } catch (error) {
        if (!(error instanceof InvalidSettings)) throw error;
        seen.count(order.test(error.message) ? "an order is wrong" : "a setting is wrong");
        expect(refusal.test(error.message) || order.test(error.message), error.message).toBe(true);
        expect(isPlainReason(error.message, 2_000)).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(30);
});

test("what nothing can wait for is refused: intervals and timers end somewhere", () => {
  for (const durations of [
    { grace: 1e300 },
    { lostAfter: 1e9 },
    { settle: 2 ** 31 },
    { queueEmpty: Number.POSITIVE_INFINITY },
  ])
    expect(() => parseSettings({ durations })).toThrow(InvalidSettings);
});

test("a refusal is short, whatever was given", () => {
  for (const text of longTexts()) {
    const given = [{ [text]: 1 }, { sweep: { budget: text } }, { limits: { [text]: { rate: text } } }];
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, key) => [`${key}${text.slice(0, 100)}`, text.slice(0, 100)]),
    );
    const refuse = () => {
      for (const settings of [...given, many])
        expect(() => parseSettings(settings)).toThrow(/^[ -~]{20,1500}$/);
    };
    expect(cost(refuse), text.slice(0, 4)).toBeLessThan(1_000);
  }
});
