import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText, cost, longTexts, tally } from "../../../tests/hostile/arbitraries.ts";
import { isInstant } from "./instant.ts";

const seen = tally("instant", "none");

const digits = (length: number, most: number) =>
  fc.oneof(
    { weight: 9, arbitrary: fc.nat(most).map((number) => String(number).padStart(length, "0")) },
    { weight: 1, arbitrary: fc.constantFrom("٠١", "-0", "1e", "０１", "", "\0\0") },
  );

const nearly = fc
  .tuple(
    fc.oneof(digits(4, 9_999), fc.integer({ min: 1970, max: 2100 }).map(String)),
    ...[digits(2, 13), digits(2, 32), digits(2, 24), digits(2, 60), digits(2, 60)],
    fc.constantFrom("", ".5", ".123456789", ".1234567890", ".", ",5"),
    fc.constantFrom(
      "Z",
      "z",
      "+00:00",
      "-00:00",
      "+15:59",
      "-15:59",
      "+16:00",
      "+14:60",
      "",
      " Z",
      "Z\n",
      "−02:00",
      "+2",
    ),
    fc.constantFrom("T", "t", " ", "T"),
  )
  .map(
    ([year, month, day, hour, minute, second, fraction, offset, t]) =>
      `${year}-${month}-${day}${t}${hour}:${minute}:${second}${fraction}${offset}`,
  );

test("an instant is what JavaScript reads as the same day and time, and nothing else is one", () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: nearly }, { weight: 1, arbitrary: anyText }), (text) => {
      const is = isInstant(text);
      seen.count(is ? "instant" : "none");
      if (!is) return;
      expect(text).toMatch(/^[0-9TtZz:.+-]{20,35}$/);
      const shift = /[Zz]$/.test(text) ? "+00:00" : text.slice(-6);
      const [hours = 0, minutes = 0] = shift.slice(1).split(":").map(Number);
      const local = Date.parse(text) + (shift.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
      expect(new Date(local).toISOString().slice(0, 19)).toBe(text.slice(0, 19).toUpperCase());
    }),
    { numRuns: 3_000 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(50);
});

test("every instant since 1970 is one, to the millisecond", () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true }),
      (date) => {
        expect(isInstant(date.toISOString())).toBe(true);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("a long text is refused at once", () => {
  for (const text of [...longTexts(), `2026-03-29T09:30:00.${"1".repeat(1_000_000)}Z`])
    expect(
      cost(() => expect(isInstant(text)).toBe(false)),
      text.slice(0, 4),
    ).toBeLessThan(500);
});
