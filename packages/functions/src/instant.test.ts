import fc from "fast-check";
import { expect, test } from "vitest";
import { isInstant } from "./instant.ts";

test.each([
  "2026-02-30T10:00:00Z",
  "2026-04-31T10:00:00Z",
  "2025-02-29T10:00:00Z",
  "2100-02-29T10:00:00Z",
  "2026-13-01T10:00:00Z",
  "2026-00-10T10:00:00Z",
  "2026-01-00T10:00:00Z",
  "2026-01-32T10:00:00Z",
  "2026-01-01T24:00:00Z",
  "2026-01-01T10:60:00Z",
  "2026-01-01T10:00:60Z",
  "2016-12-31T23:59:60Z",
  "0000-01-01T00:00:00Z",
  "1969-12-31T23:59:59Z",
  "+12026-01-01T00:00:00Z",
  "2026-01-01T10:00:00",
  "2026-01-01T10:00:00 Z",
  "2026-01-01 10:00:00Z",
  "2026-01-01T10:00Z",
  "2026-01-01",
  "2026-01-01T10:00:00.Z",
  "2026-01-01T10:00:00.1234567890Z",
  "2026-01-01T10:00:00,5Z",
  "2026-01-01T10:00:00+0200",
  "2026-01-01T10:00:00+2:00",
  "2026-01-01T10:00:00+02:60",
  "2026-01-01T10:00:00+16:00",
  "2026-01-01T10:00:00-24:00",
  "2026-01-01T10:00:00Europe/Vienna",
  "2026-01-01T10:00:00Z\n",
  "\n2026-01-01T10:00:00Z",
  "２０２６-01-01T10:00:00Z",
  "now",
  "infinity",
])("%j does not exist, or is no RFC 3339", (text) => {
  expect(isInstant(text)).toBe(false);
});

test.each([
  "2024-02-29T23:59:59.999999999Z",
  "2000-02-29T00:00:00Z",
  "2026-01-01t10:00:00z",
  "2026-01-01T10:00:00-00:00",
  "2026-01-01T10:00:00.123456+05:45",
  "2026-01-01T10:00:00+14:00",
  "9999-12-31T23:59:59Z",
])("%s exists", (text) => {
  expect(isInstant(text)).toBe(true);
});

test("any is taken if and only if the calendar has it", () => {
  const two = (value: number) => String(value).padStart(2, "0");
  const daysOf = (year: number, month: number) => {
    const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  };
  const number = (usual: number, highest: number) =>
    fc.oneof({ weight: 9, arbitrary: fc.nat(usual) }, { weight: 1, arbitrary: fc.nat(highest) });
  fc.assert(
    fc.property(
      fc.integer({ min: 1900, max: 2105 }),
      number(12, 19),
      number(31, 39),
      number(23, 29),
      number(59, 69),
      number(59, 69),
      fc.constantFrom("Z", "+05:45", "-11:00"),
      (year, month, day, hour, minute, second, offset) => {
        const text = `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}${offset}`;
        const exists = year >= 1970 && day >= 1 && day <= daysOf(year, month);
        const valid = exists && hour <= 23 && minute <= 59 && second <= 59;
        expect(isInstant(text), text).toBe(valid);
      },
    ),
    { numRuns: 500 },
  );
});
