import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText, cost, longTexts, mutated, tally, written } from "../../../../tests/hostile/arbitraries.ts";
import { messageOf } from "../publish/message.ts";
import { parseMessage } from "./message.ts";

const seen = tally("ours", "none");

const valid = fc.record({
  id: fc.uuid(),
  generation: fc.oneof(fc.nat(9), fc.constantFrom(-0, 2 ** 31 - 1, 2 ** 31, -1, 0.5)),
  ...{ address: anyText, to: anyText },
});

test("any body is a row's id and generation that the ledger can look up, or none of ours", () => {
  fc.assert(
    fc.property(written(mutated(valid)), (body) => {
      const message = parseMessage(body);
      seen.count(message ? "ours" : "none");
      if (!message) return;
      expect(Object.keys(message)).toEqual(["id", "generation"]);
      expect(message.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(String(message.generation)).toMatch(/^(0|[1-9]\d{0,9})$/);
      expect(message.generation).toBeLessThan(2 ** 31);
      const again = messageOf({ ...message, token: 1, group: "7" }, 0).MessageBody ?? "";
      expect(parseMessage(again)).toEqual({ ...message, generation: message.generation + 0 });
    }),
    { numRuns: 1_500 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(200);
});

test("what is large is read in a time that grows with its size alone", () => {
  for (const id of longTexts()) {
    expect(
      cost(() => parseMessage(JSON.stringify({ id, generation: 0 }))),
      id.slice(0, 4),
    ).toBeLessThan(1_000);
    expect(
      cost(() => parseMessage(id)),
      id.slice(0, 4),
    ).toBeLessThan(1_000);
  }
});
