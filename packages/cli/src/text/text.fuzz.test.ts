import { expect, test } from "vitest";
import { anyText, anyValue, cost, fc, longTexts } from "../../../../tests/hostile/arbitraries.ts";
import { mask } from "./mask.ts";
import { printable, toJson } from "./printable.ts";
import { table } from "./table.ts";
import { duration } from "./time.ts";

/** What would move a cursor, colour a screen, or turn a line around. */
const acting =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Co}\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/u;

test("any text is printed as one line that no terminal acts on, and a printed line stays as it is", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const line = printable(text);
      expect(line).not.toMatch(acting);
      expect(printable(line)).toBe(line);
    }),
    { numRuns: 1_000 },
  );
});

test("any value printed as JSON is one safe line, and reads back as what it was", () => {
  fc.assert(
    fc.property(anyValue, anyText, (value, key) => {
      const object = { value, [key]: "x" };
      const json = toJson(object);
      expect(json).not.toMatch(acting);
      expect(JSON.stringify(JSON.parse(json))).toBe(JSON.stringify(object));
    }),
    { numRuns: 1_000 },
  );
});

test("a table has as many lines as rows, whatever its cells hold", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyText, anyText), { maxLength: 4 }), (rows) => {
      const lines = table(["one", "two"], rows);
      expect(lines).toHaveLength(1 + rows.length);
      for (const line of lines) expect(line).not.toMatch(acting);
    }),
    { numRuns: 300 },
  );
});

test("a masked address shows one character of its mailbox at most, and nothing of a webhook but its host", () => {
  const local = fc.stringMatching(/^[a-z0-9.+]{1,30}$/);
  const host = fc.constantFrom("example.org", "xn--bcher-kva.example");
  fc.assert(
    fc.property(local, host, (before, after) => {
      expect(mask(`${before}@${after}`)).toBe(`${before.length > 1 ? before[0] : ""}***@${after}`);
      expect(mask(`https://${before}:${before}@${after}/${before}?${before}`)).toBe(`https://${after}/***`);
    }),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      const shown = mask(text);
      expect(shown).toContain("***");
      if (!text.includes("@") && !/^https?:/i.test(text)) expect(shown.length).toBeLessThanOrEqual(5);
    }),
    { numRuns: 1_000 },
  );
});

test("any number of seconds is said in two units at most", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), (seconds) => {
      expect(duration(seconds)).toMatch(/^\d+ (d|h|min|s)( \d+ (h|min|s))?$/);
    }),
  );
});

test("what is long is printed in a time that grows with its length alone", () => {
  for (const text of longTexts())
    for (const print of [printable, toJson, mask, (cell: string) => table(["one"], [[cell.slice(0, 5_000)]])])
      expect(
        cost(() => print(text)),
        text.slice(0, 4),
      ).toBeLessThan(500);
});
