import fc from "fast-check";
import { expect, test } from "vitest";
import { pack } from "./pack.ts";

const rows = fc
  .array(fc.nat({ max: 12 }), { maxLength: 120 })
  .map((groups) =>
    groups.map((group, id) => ({ id: String(id), generation: 0, token: 1, group: String(group) })),
  );

test("batches hold every row once, in order, and all but the last are full", () => {
  fc.assert(
    fc.property(rows, (given) => {
      const batches = pack(given);
      expect(batches.flatMap((batch) => batch.rows)).toEqual(given);
      for (const batch of batches.slice(0, -1)) expect(batch.rows).toHaveLength(10);
      expect(batches.at(-1)?.rows.length ?? 10).toBeGreaterThan(0);
      expect(batches.at(-1)?.rows.length ?? 0).toBeLessThanOrEqual(10);
    }),
  );
});

test("a batch waits for the last one before it that has one of its groups, and for no other", () => {
  fc.assert(
    fc.property(rows, (given) => {
      const batches = pack(given);
      for (const [place, { rows: own, after }] of batches.entries()) {
        const expected = new Set(
          own.flatMap(
            ({ group }) =>
              batches
                .slice(0, place)
                .findLast((earlier) => earlier.rows.some((row) => row.group === group)) ?? [],
          ),
        );
        expect(new Set(after)).toEqual(expected);
        expect(after).toHaveLength(expected.size);
      }
    }),
  );
});

test("rows of as many groups wait for nothing", () => {
  const given = Array.from({ length: 95 }, (_, id) => ({
    id: `${id}`,
    generation: 0,
    token: 1,
    group: `${id}`,
  }));
  expect(pack(given).map(({ rows: own, after }) => [own.length, after.length])).toEqual([
    ...Array(9).fill([10, 0]),
    [5, 0],
  ]);
});
