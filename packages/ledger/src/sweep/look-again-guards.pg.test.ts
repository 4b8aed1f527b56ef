import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { look } from "../testing/act.ts";
import { orWaits } from "../testing/race.ts";
import { type Columns, empty, newRow, readRow, type Shape } from "../testing/rows.ts";
import type { LookOptions } from "./look-again.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const due = (seconds = 1) => ({ owed_at: `now() - interval '${seconds} s'` });

test("a row that somebody holds is left for the next look, without waiting", async () => {
  const [held, free] = [
    await newRow(database, "unknown", due(60)),
    await newRow(database, "unknown", due(30)),
  ];
  const before = await readRow(database, held);
  await database.sql.begin(async (holder) => {
    await holder`SELECT FROM owed.notification WHERE id = ${held} FOR UPDATE`;
    expect(await orWaits(database.sql, look(database))).toMatchObject({ taken: 1, resent: 1 });
  });
  expect(await readRow(database, held)).toEqual(before);
  expect(await readRow(database, free)).toMatchObject({ state: "pending", resends: 1 });
});

test("a look takes as many as it may, the oldest first", async () => {
  const [newer, older] = [
    await newRow(database, "unknown", due(30)),
    await newRow(database, "unknown", due(60)),
  ];
  expect((await look(database, { limit: 1 })).taken).toBe(1);
  expect(await readRow(database, older)).toMatchObject({ state: "pending" });
  expect(await readRow(database, newer)).toMatchObject({ state: "unknown" });
});

test("rows of the sweep's own are none of a look's", async () => {
  for (const shape of ["pending", "leased"] as const) await newRow(database, shape, due());
  expect((await look(database, { queued: "lost" })).taken).toBe(0);
});

test.each([{ queued: "skip" }, { unknown: "skip" }] as const)(
  "what is not skipped is looked at: %o",
  async (skip) => {
    for (const shape of ["queued", "sending", "unknown"] as const) await newRow(database, shape, due());
    expect((await look(database, skip)).taken).toBe(2);
  },
);

const lost = { queued: "lost" } as const;
test.each<[string, Shape, Columns, Partial<LookOptions>, object[]]>([
  [
    "a worker that vanished",
    "sending",
    {},
    {},
    [{ kind: "unknown", generation: 0, reason: "no_outcome: the worker vanished before it recorded one" }],
  ],
  [
    "a resend",
    "unknown",
    {},
    {},
    [{ kind: "resent", generation: 1, reason: "possible duplicate: the grace passed without evidence" }],
  ],
  ["a row held", "unknown", { resends: "3" }, {}, [{ kind: "held", generation: 0, reason: "no_answer" }]],
  ["a rescue", "queued", {}, lost, [{ kind: "rescued", generation: 1, reason: "its message was lost" }]],
  [
    "a row given up",
    "queued",
    { rescues: "3" },
    lost,
    [{ kind: "lost", generation: 0, reason: "lost: queued four times, and no worker ever received it" }],
  ],
  ["a row that waits on", "queued", {}, {}, []],
])("what a look says of %s", async (_, shape, columns, options, told) => {
  await newRow(database, shape, { ...due(), ...columns });
  expect((await look(database, options)).taken).toBe(1);
  expect(await database.sql`SELECT kind, generation, reason FROM owed.attempt`).toEqual(told);
});
