import { expect, test } from "vitest";
import { mask, masked } from "./mask.ts";
import { printable, toJson } from "./printable.ts";
import { table } from "./table.ts";
import { duration, time } from "./time.ts";

test("an address is masked by its kind", () => {
  expect(mask("bob@example.com")).toBe("b***@example.com");
  expect(mask("b@example.com")).toBe("***@example.com");
  expect(mask('"odd@local"@example.com')).toBe('"***@example.com');
  expect(mask("😀smile@example.com")).toBe("😀***@example.com");
  expect(mask("+493012345667")).toBe("***67");
  expect(mask("1234")).toBe("***");
  expect(mask("https://hooks.example.com/secret?token=abc@d")).toBe("https://hooks.example.com/***");
  expect(mask("https://user:password@hooks.example.com/x")).toBe("https://hooks.example.com/***");
  expect(mask("http://[secret")).toBe("***/***");
});

test("a row is shown in full only when that is asked for", () => {
  expect(masked({ sentTo: "bob@example.com" }, false)).toEqual({ sentTo: "b***@example.com" });
  expect(masked({ sentTo: "bob@example.com" }, true)).toEqual({ sentTo: "bob@example.com" });
  expect(masked({ sentTo: null }, false)).toEqual({ sentTo: null });
});

test("nothing that a terminal would act on is printed", () => {
  expect(printable("a\u001b[31mb\nc\td\u0000\u007f\u009b")).toBe("a\\u{1b}[31mb\\nc\\td\\u{0}\\u{7f}\\u{9b}");
  expect(printable("\u202eevil\u2066\u2028\ufeff\ud800\u{e000}\u{e0041}")).toBe(
    "\\u{202e}evil\\u{2066}\\u{2028}\\u{feff}\\u{d800}\\u{e000}\\u{e0041}",
  );
  expect(printable("Zoë 李 👩‍👧 می‌خواهم")).toBe("Zoë 李 👩‍👧 می‌خواهم");
});

test("JSON on a terminal is harmless, and says the same", () => {
  const value = { text: "a\u001b[31m\u009b\u202e\u2028\ud800\u{e0041}👩‍👧", at: new Date(0) };
  const json = toJson(value);
  expect(json).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u);
  expect(JSON.parse(json)).toEqual({ ...value, at: "1970-01-01T00:00:00.000Z" });
});

test("durations in their two largest units", () => {
  const said = [0, 0.4, 59.6, 61, 3600, 3604, 3660, 7500, 90_000, 86_460, 2 * 86_400 + 3600].map(duration);
  expect(said).toEqual([
    "0 s",
    "0 s",
    "1 min",
    "1 min 1 s",
    "1 h",
    "1 h",
    "1 h 1 min",
    "2 h 5 min",
    "1 d 1 h",
    "1 d",
    "2 d 1 h",
  ]);
});

test("times are RFC 3339 in UTC", () => {
  expect(time(new Date("2026-03-29T09:30:00+02:00"))).toBe("2026-03-29T07:30:00.000Z");
  expect(time(null)).toBe("-");
});

test("a table has a line a row, whatever is in it, and no colours", () => {
  expect(
    table(
      ["id", "what"],
      [
        ["1", "two\nlines\u001b[31m"],
        ["22", null],
        ["3", ""],
      ],
    ),
  ).toEqual(["id  what", "1   two\\nlines\\u{1b}[31m", "22  -", "3   -"]);
});
