import { expect, test } from "vitest";
import { answerPath, parseAnswer, parseSearch } from "./query.ts";

test("an answer's address says all that its page needs", () => {
  const query = { shipmentId: 'S-1 &"<x>', recipientId: "ann+1@x", full: true };
  const path = answerPath(query);
  expect(path).toBe("/notified?shipment=S-1+%26%22%3Cx%3E&recipient=ann%2B1%40x&full=1");
  expect(parseAnswer(Object.fromEntries(new URL(path, "http://127.0.0.1").searchParams))).toEqual(query);
  expect(answerPath({ shipmentId: "S-1" }, "/notified.csv")).toBe("/notified.csv?shipment=S-1");
});

test("a search looks for anything, unless it says for what", () => {
  expect(parseSearch({ value: " ann " })).toEqual({ by: "any", value: "ann" });
  expect(parseSearch({ by: "message", value: "0100" })).toEqual({ by: "message", value: "0100" });
});

test.each<[Record<string, string>, string]>([
  [{}, "shipment is missing"],
  [{ shipment: " " }, "shipment is missing"],
  [{ shipment: "S\u0000" }, "shipment has no control characters"],
  [{ shipment: "x".repeat(1001) }, "shipment has 1,000 characters at most"],
  [{ shipment: "S-1", recipient: "" }, "recipient is missing"],
  [{ shipment: "S-1", full: "yes" }, "full is 1, or is left out"],
])("%j is refused: %s", (query, why) => {
  expect(() => parseAnswer(query)).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringContaining(why) }),
  );
});

test("what nobody can look for is refused", () => {
  expect(() => parseSearch({ by: "name", value: "Ann" })).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringContaining("by is one of any, shipment") }),
  );
});
