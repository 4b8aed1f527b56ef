import fc from "fast-check";
import { expect, test } from "vitest";
import { cost, longTexts } from "../../../../tests/hostile/arbitraries.ts";
import { partsOf } from "../../../local/src/sms/parts.ts";
import { RefusedError } from "../errors.ts";
import { checkText, segmentsOf } from "./segments.ts";

test.for<[what: string, text: string, encoding: string, segments: number]>([
  ["nothing", "", "GSM-7", 1],
  ["160 letters", "a".repeat(160), "GSM-7", 1],
  ["161 letters", "a".repeat(161), "GSM-7", 2],
  ["306 letters", "a".repeat(306), "GSM-7", 2],
  ["307 letters", "a".repeat(307), "GSM-7", 3],
  ["letters of German and French that GSM has", "äöüßÄÖÜéèàùñ".repeat(13), "GSM-7", 1],
  ["80 euros, which take two places each", "€".repeat(80), "GSM-7", 1],
  ["81 euros", "€".repeat(81), "GSM-7", 2],
  ["a euro that does not fit in the rest of a part", `${"a".repeat(152)}€${"b".repeat(152)}`, "GSM-7", 3],
  ["one letter that GSM has not", "ç", "UCS-2", 1],
  ["a curly apostrophe among 69 letters", `${"a".repeat(69)}’`, "UCS-2", 1],
  ["a curly apostrophe among 70 letters", `${"a".repeat(70)}’`, "UCS-2", 2],
  ["70 Arabic letters", "ع".repeat(70), "UCS-2", 1],
  ["134 Arabic letters", "ع".repeat(134), "UCS-2", 2],
  ["135 Arabic letters", "ع".repeat(135), "UCS-2", 3],
  ["35 parcels", "📦".repeat(35), "UCS-2", 1],
  ["36 parcels", "📦".repeat(36), "UCS-2", 2],
  ["66 parcels, none of which is torn apart", "📦".repeat(66), "UCS-2", 2],
  ["67 parcels", "📦".repeat(67), "UCS-2", 3],
  ["a letter with more marks than a part holds", `a${"\u0301".repeat(201)}`, "UCS-2", 4],
])("%s", ([, text, encoding, segments]) => {
  expect(segmentsOf(text)).toEqual({ encoding, segments });
});

test("it counts as the network does, for texts of any characters that stand alone", () => {
  const character = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(..."abc XYZ 0189.,:/-") },
    { weight: 1, arbitrary: fc.constantFrom(..."€^{}[]~|\\\f") },
    { weight: 1, arbitrary: fc.constantFrom("ä", "é", "Ω", "\n") },
    { weight: 1, arbitrary: fc.constantFrom("a", "ç", "’", "…", "ع", "山", "📦", "\u00a0") },
  );
  fc.assert(
    fc.property(fc.array(character, { maxLength: 400, size: "max" }), (characters) => {
      const text = characters.join("");
      const { encoding, segments } = partsOf(text);
      expect(segmentsOf(text)).toEqual({ encoding: encoding === "GSM" ? "GSM-7" : "UCS-2", segments });
    }),
    { numRuns: 150 },
  );
});

test.for<[what: string, text: string, code: string]>([
  ["an empty text", "", "NoText"],
  ["spaces", " \n\t", "NoText"],
  ["919 letters", "a".repeat(919), "TooLong"],
  ["403 letters, one of them not GSM's", `${"a".repeat(402)}ç`, "TooLong"],
  ["202 parcels", "📦".repeat(202), "TooLong"],
])("%s is refused", ([, text, code]) => {
  expect(() => checkText(text)).toThrow(RefusedError);
  expect(() => checkText(text)).toThrow(new RegExp(`^${code}: `));
});

test("a text of six parts goes", () => {
  for (const text of ["a", "a".repeat(918), `${"a".repeat(401)}ç`, "📦".repeat(198), "👩‍👩‍👧".repeat(24)]) {
    expect(segmentsOf(text).segments).toBeLessThanOrEqual(6);
    expect(() => checkText(text)).not.toThrow();
  }
});

test("what is long costs no more than the longest text that is sent", () => {
  for (const text of longTexts().filter((long) => long.trim() !== "")) {
    expect(
      cost(() => segmentsOf(text)),
      text.slice(0, 4),
    ).toBeLessThan(2_000);
    expect(
      cost(() => expect(() => checkText(text)).toThrow(RefusedError)),
      text.slice(0, 4),
    ).toBeLessThan(100);
  }
});
