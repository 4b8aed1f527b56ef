import fc from "fast-check";
import { expect, test } from "vitest";
import { pack } from "./pack.ts";

type Row = { id: string; generation: number; token: number; group: string };

const rows = fc
  .array(fc.nat({ max: 12 }), { maxLength: 120 })
  .map((groups) =>
    groups.map((group, id): Row => ({ id: String(id), generation: 0, token: 1, group: String(group) })),
  );

/** The place of the batch that each row went into. */
const placesOf = (given: readonly Row[]) => {
  const batches = pack(given);
  const places = new Map(batches.flatMap((own, place) => own.map((row) => [row, place] as const)));
  return { batches, place: (row: Row) => places.get(row) ?? -1 };
};
/** The row before this one in its group. */
const before = (given: readonly Row[], row: Row) =>
  given.slice(0, given.indexOf(row)).findLast(({ group }) => group === row.group);

test("batches hold every row once, ten at most, and one of a group at most", () => {
  fc.assert(
    fc.property(rows, (given) => {
      const batches = pack(given);
      const packed = batches.flat();
      expect(packed).toHaveLength(given.length);
      expect(new Set(packed)).toEqual(new Set(given));
      for (const own of batches) {
        expect(own.length).toBeGreaterThan(0);
        expect(own.length).toBeLessThanOrEqual(10);
        expect(new Set(own.map(({ group }) => group)).size).toBe(own.length);
      }
    }),
  );
});

test("a row comes in a later batch than the row before it", () => {
  fc.assert(
    fc.property(rows, (given) => {
      const { place } = placesOf(given);
      for (const row of given) {
        const previous = before(given, row);
        if (previous) expect(place(previous)).toBeLessThan(place(row));
      }
    }),
  );
});

test("batches are as full as can be: none that a row could have gone into has room", () => {
  fc.assert(
    fc.property(rows, (given) => {
      const { batches, place } = placesOf(given);
      for (const row of given) {
        const previous = before(given, row);
        const possible = batches.slice(previous ? place(previous) + 1 : 0, place(row));
        for (const own of possible) expect(own).toHaveLength(10);
      }
    }),
  );
});

test("rows of as many groups fill their batches", () => {
  const given = Array.from({ length: 95 }, (_, id) => ({
    id: `${id}`,
    generation: 0,
    token: 1,
    group: `${id}`,
  }));
  expect(pack(given).map((own) => own.length)).toEqual([...Array(9).fill(10), 5]);
});

test("a group's rows alone go one by one", () => {
  const given = Array.from({ length: 4 }, (_, id) => ({ id: `${id}`, generation: 0, token: 1, group: "g" }));
  expect(pack(given).map((own) => own.map(({ id }) => id))).toEqual([["0"], ["1"], ["2"], ["3"]]);
});
