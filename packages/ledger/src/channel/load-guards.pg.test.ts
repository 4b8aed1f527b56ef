import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { setChannel } from "../testing/channel.ts";
import { type Columns, empty, newRow, type Shape } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

/** By `owed close`. */
const shutByHand = {
  closed_until: "'infinity'",
  closed_at: "now()",
  closed_for: "'operator'",
  closed_why: "'w'",
};

const longDue = { due_at: "now() - interval '1 hour'" };

test.each<[string, Shape, Columns]>([
  ["is in the queue, its look overdue", "queued", { owed_at: "now() - interval '1 s'" }],
  ["waits for its next try", "pending", { owed_at: "now() + interval '5 min'" }],
])("the oldest row that is due is none that %s", async (_, shape, columns) => {
  await newRow(database, shape, { ...longDue, ...columns });
  await newRow(database, "pending", {
    due_at: "now() - interval '10 s'",
    owed_at: "now() - interval '10 s'",
  });
  const [load] = await database.sql`
    SELECT due::int, round(extract(epoch FROM now() - oldest_due_at) / 10)::int AS age FROM owed.load(1200, 120)`;
  expect(load).toEqual({ due: 1, age: 1 });
});

test.each<[string, Record<string, string>, number, number, number | null]>([
  ["what is in the queue is to be sent too", { rate: "10" }, 0, 100, 10],
  [
    "nothing to send takes no time, however long the channel is closed",
    { rate: "10", ...shutByHand },
    0,
    0,
    0,
  ],
  ["a channel that a person has closed sends nothing", { rate: "10", ...shutByHand }, 5, 0, null],
  ["nothing due takes no time where no rate is known", {}, 0, 100, 0],
])("time to drain: %s", async (_, columns, due, inQueue, seconds) => {
  if (Object.keys(columns).length > 0) await setChannel(database, columns);
  const [row] = await database.sql`
    SELECT owed.time_to_drain(c, ${due}::bigint, ${inQueue}::bigint) AS seconds FROM owed.channel c WHERE name = 'email'`;
  expect(row).toEqual({ seconds });
});
