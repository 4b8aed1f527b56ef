import fc from "fast-check";
import { expect, test } from "vitest";
import { messageOf } from "../publish/message.ts";
import { parseMessage } from "./message.ts";

const id = "0198b1c2-7d3e-7a41-9c55-3f2a1b0c0001";

test("what a sweep sends is read back, and is the id and the generation alone", () => {
  fc.assert(
    fc.property(
      fc.uuid(),
      fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String),
      fc.nat({ max: 9 }),
      (row, generation, group, place) => {
        const entry = messageOf({ id: row, generation, token: 3, group }, place);
        expect(JSON.parse(entry.MessageBody ?? "")).toEqual({ id: row, generation });
        expect(parseMessage(entry.MessageBody ?? "")).toEqual({ id: row, generation });
        // SQS's own rules for ids.
        expect(entry.Id).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
        expect(entry.MessageGroupId).toMatch(/^[!-~]{1,128}$/);
        expect(entry.MessageDeduplicationId).toMatch(/^[!-~]{1,128}$/);
      },
    ),
  );
});

test("the deduplication id is the row's: another for each generation, the same for each attempt", () => {
  const of = (generation: number, token: number) =>
    messageOf({ id, generation, token, group: "7" }, token).MessageDeduplicationId;
  expect([of(0, 1), of(0, 2), of(1, 3), of(12, 4)]).toEqual([
    `shipment-notif-${id}`,
    `shipment-notif-${id}`,
    `shipment-notif-${id}.1`,
    `shipment-notif-${id}.12`,
  ]);
});

test("more than is asked for is left out", () => {
  const body = JSON.stringify({ id, generation: 0, address: "ana@example.org" });
  expect(parseMessage(body)).toEqual({ id, generation: 0 });
});

test.each([
  "",
  "{",
  "null",
  "[]",
  '"text"',
  "{}",
  JSON.stringify({ id }),
  JSON.stringify({ generation: 0 }),
  JSON.stringify({ id: "1", generation: 0 }),
  JSON.stringify({ id: id.toUpperCase(), generation: 0 }),
  JSON.stringify({ id: `${id}\n`, generation: 0 }),
  JSON.stringify({ id: `${id}\u0000`, generation: 0 }),
  JSON.stringify({ id: `{${id}}`, generation: 0 }),
  JSON.stringify({ id: [id], generation: 0 }),
  JSON.stringify({ id, generation: "0" }),
  JSON.stringify({ id, generation: -1 }),
  JSON.stringify({ id, generation: 0.5 }),
  JSON.stringify({ id, generation: null }),
  JSON.stringify({ id, generation: 2 ** 31 }),
  `{"id":"${id}","generation":1e999}`,
  `{"__proto__":{"id":"${id}","generation":0}}`,
])("%j is none of ours", (body) => {
  expect(parseMessage(body)).toBeNull();
});

test("any text has an answer: one of ours, or none", () => {
  const any = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc
      .record({ id: fc.oneof(fc.uuid(), fc.jsonValue()), generation: fc.jsonValue() })
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(any, (body) => {
      const parsed = parseMessage(body);
      if (!parsed) return;
      expect(Object.keys(parsed)).toEqual(["id", "generation"]);
      expect(parsed.id).toMatch(/^[0-9a-f-]{36}$/);
      expect(Number.isSafeInteger(parsed.generation)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
