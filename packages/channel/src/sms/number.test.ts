import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText, cost, isPlainReason, longTexts, tally } from "../../../../tests/hostile/arbitraries.ts";
import { failing, succeeding } from "../../../local/src/sms/simulator.ts";
import { RefusedError } from "../errors.ts";
import { parseNumber } from "./number.ts";

test.for([
  ["+436641234567", "+436641234567"],
  ["+43 664 1234567", "+436641234567"],
  [" +43 (664) 123-45.67 ", "+436641234567"],
  ["+1 425-555-0156", "+14255550156"],
  ["+44 7700 900123", "+447700900123"],
  ["+39 02 1234567", "+39021234567"],
  ["+971 50 123 4567", "+971501234567"],
  ["+881612345678", "+881612345678"],
] as const)("%s is %s", ([address, expected]) => {
  expect(parseNumber(address)).toBe(expected);
});

test.for([
  ["", "NoAddress: no address"],
  [null, "NoAddress: no address"],
  [undefined, "NoAddress: no address"],
  ["0664 1234567", "InvalidAddress: number is not + and digits"],
  ["00436641234567", "InvalidAddress: number is not + and digits"],
  ["436641234567", "InvalidAddress: number is not + and digits"],
  ["+43 664 1234567 ext. 3", "InvalidAddress: number is not + and digits"],
  ["+43 664 1234567;ext=3", "InvalidAddress: number is not + and digits"],
  ["tel:+436641234567", "InvalidAddress: number is not + and digits"],
  ["+43 664 CALLME", "InvalidAddress: number is not + and digits"],
  ["+٤٣٦٦٤١٢٣٤٥٦٧", "InvalidAddress: number is not + and digits"],
  ["+436641234567,+436641234568", "InvalidAddress: number is not + and digits"],
  ["ana.lind@example.org", "InvalidAddress: number is not + and digits"],
  ["+", "InvalidAddress: number is not + and digits"],
  ["+999123456789", "InvalidAddress: number is of no country"],
  ["+()", "InvalidAddress: number is of no country"],
  ["+1 425 555", "InvalidAddress: number has no length that its country's numbers have"],
  ["+1 425 555 01567", "InvalidAddress: number has no length that its country's numbers have"],
  ["+43 (0)664 1234567", "InvalidAddress: number has a national prefix"],
  ["+44 (0)7700 900123", "InvalidAddress: number has a national prefix"],
  [`+43664${"1".repeat(40)}`, "InvalidAddress: number is too long"],
] as const)("%j is refused: %s", ([address, reason]) => {
  const parse = () => parseNumber(address);
  expect(parse).toThrow(RefusedError);
  expect(parse).toThrow(new RefusedError(...(reason.split(": ") as [string, string])));
});

test("AWS's simulator numbers are numbers", () => {
  for (const number of [...succeeding, ...failing]) expect(parseNumber(number)).toBe(number);
});

test("any text is one number in E.164 form, by the digits it has, or refused with its fault alone", () => {
  const seen = tally("number", "refused");
  const digits = fc.oneof(
    fc.stringMatching(/^[1-9][0-9]{6,11}$/),
    fc.stringMatching(/^([1-9][0-9]{2,3}[ ()./-]){3}$/),
    fc.stringMatching(/^[0-9 ()./-]{6,18}$/),
  );
  const nearly = fc
    .tuple(fc.constantFrom("+43", "+1", "+49", "+33", "+971", "+", "43", "", " +43"), digits)
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof({ weight: 5, arbitrary: nearly }, { weight: 1, arbitrary: anyText }), (text) => {
      try {
        const number = parseNumber(text);
        seen.count("number");
        expect(number).toMatch(/^\+[1-9][0-9]{4,14}$/);
        expect(number).toBe(text.replace(/[^+0-9]/g, ""));
        expect(parseNumber(number)).toBe(number);
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        seen.count("refused");
        expect(error.message).toMatch(/^(NoAddress: no address|InvalidAddress: number [a-z' +]{5,60})$/);
        expect(isPlainReason(error.message, 80)).toBe(true);
      }
    }),
    { numRuns: 600 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(15);
});

test("what is long is refused in a time that grows with its length alone", () => {
  for (const text of longTexts())
    for (const address of [text, `+${text}`, `+43${text}`])
      expect(
        cost(() => expect(() => parseNumber(address)).toThrow(RefusedError)),
        text.slice(0, 4),
      ).toBeLessThan(200);
});
