import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { claimRow, recordOne } from "../testing/act.ts";
import { type Columns, empty, newRow, readRow, type Shape } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const transient = { kind: "transient", reason: "busy" } as const;

describe("a worker is told that the row is not its own any more", () => {
  test.each<[string, Shape, Columns]>([
    ["the row has become what it asks for by another's token", "queued", { lease_token: "3" }],
    ["its token is still the row's, and the row is something else", "unknown", {}],
  ])("%s", async (_, shape, columns) => {
    const id = await newRow(database, shape, columns);
    const before = await readRow(database, id);
    expect(await recordOne(database, id, 2, transient)).toBe(false);
    expect(await readRow(database, id)).toEqual(before);
  });

  test("another row has become that, by a token of the same number", async () => {
    const other = await newRow(database, "queued");
    const { token } = await claimRow(database, other);
    expect(await recordOne(database, other, token, transient)).toBe(true);
    const id = await newRow(database, "sending", { lease_token: String(token + 1) });
    expect(await recordOne(database, id, token, transient)).toBe(false);
  });
});
