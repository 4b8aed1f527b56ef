import { expect, test } from "vitest";
import { parseChoice, parseFilter, queryOf, wordsOf } from "./choice.ts";

const id = "0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001";

test("ids before a filter, each once; all only where the form says so", () => {
  expect(parseChoice({ id, reason: "lost" })).toEqual({ ids: [id] });
  expect(parseChoice({ id: [id, id.toUpperCase()] })).toEqual({ ids: [id] });
  expect(parseChoice({ all: "yes", reason: "lost", channel: " " })).toEqual({ filter: { reason: "lost" } });
  expect(parseChoice({ all: "yes" })).toEqual({ filter: {} });
});

test.each([
  [{}, "Nothing was chosen"],
  [{ all: "no" }, "Nothing was chosen"],
  [{ id: "7" }, "“7” is no notification's id"],
  [{ id: Array.from({ length: 1001 }, () => id) }, "Choose 1000 at most"],
  [{ all: "yes", reason: "x".repeat(2001) }, "The reason has more than 2,000 characters"],
  [{ all: "yes", shipment: "S\0" }, "The shipment has a character"],
])("%j is refused in a sentence", (form, sentence) => {
  expect(() => parseChoice(form)).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringContaining(sentence) }),
  );
});

test("a filter's query leads back to it, whatever a reason has in it", () => {
  const filter = { channel: "email", reason: 'Odd: "&<b>?#%' };
  expect(parseFilter(Object.fromEntries(new URLSearchParams(queryOf(filter))))).toEqual(filter);
  expect(queryOf({})).toBe("");
  expect(wordsOf({ ...filter, shipment: "S-1" })).toBe(
    'by email, of shipment S-1, whose reason begins with “Odd: "&<b>?#%”',
  );
});
