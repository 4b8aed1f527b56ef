import fc from "fast-check";
import { expect, test } from "vitest";
import { line } from "./text.ts";

test.for([
  ["Ana\r\nBcc: evil@example.org", "Ana Bcc: evil@example.org"],
  ["a\u0000b\u001b[31mc\u007fd\u0085e", "a b [31mc d e"],
  ["lone \ud83d high, lone \udc4b low", "lone high, lone low"],
  ["paid\u202egnp.exe", "paid gnp.exe"],
  ["\u2066isolated\u2069 \u2028\u2029 \ufeffmark", "isolated mark"],
  ["  many \t  spaces \u00a0 ", "many spaces"],
  ["👩‍👩‍👧 محمد 山田", "👩‍👩‍👧 محمد 山田"],
] as const)("%j becomes %j", ([value, expected]) => {
  expect(line(value, 60)).toBe(expected);
});

test("a long value is cut by whole code points, with a mark", () => {
  expect(line("👋".repeat(61), 60)).toBe(`${"👋".repeat(59)}…`);
  expect(line("👋".repeat(60), 60)).toBe("👋".repeat(60));
  expect(line("x".repeat(5_000_000), 10)).toBe("xxxxxxxxx…");
});

test("any string becomes one clean, short line, and a clean line stays as it is", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.integer({ min: 2, max: 80 }),
      (value, max) => {
        const cleaned = line(value, max);
        expect(cleaned).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]|^\s|\s$|\s\s/u);
        expect(cleaned.isWellFormed()).toBe(true);
        expect([...cleaned].length).toBeLessThanOrEqual(max);
        expect(line(cleaned, max)).toBe(cleaned);
      },
    ),
  );
});
