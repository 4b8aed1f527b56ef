import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { defaultDurations as durations } from "../durations.ts";
import { claimAll, message } from "../testing/act.ts";
import { orWaits, race } from "../testing/race.ts";
import { empty, newRow, readRow, type Shape } from "../testing/rows.ts";
import type { Message } from "./claim.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const readTold = () => database.sql`SELECT kind, actor, reason FROM owed.attempt ORDER BY id`;

test("a worker that waited for another's claim finds the row claimed", async () => {
  const id = await newRow(database, "queued");
  const lock = `SELECT FROM owed.notification WHERE id = '${id}' FOR UPDATE`;
  const worker = () => claimAll(database, message(id));
  expect(await race(database, lock, [worker, worker])).toEqual([["claimed"], ["held"]]);
  expect(await readRow(database, id)).toMatchObject({ attempts: 1, lease_token: 2 });
});

test("a row that this very message has tried before, and that is no longer true, is cancelled: it has not died of it", async () => {
  const id = await newRow(database, "queued", { message_id: "'M-1'", send_by: "now()" });
  expect(await claimAll(database, message(id, { messageId: "M-1" }))).toEqual(["cancelled"]);
});

test("a batch waits for no row but its own", async () => {
  const [own, other] = [await newRow(database, "queued"), await newRow(database, "queued")];
  await database.sql.begin(async (holder) => {
    await holder`SELECT FROM owed.notification WHERE id = ${other} FOR UPDATE`;
    expect(await orWaits(database.sql, claimAll(database, message(own)))).toEqual(["claimed"]);
    // Nor does who is told that there is nothing to do.
    expect(await orWaits(database.sql, claimAll(database, message(own)))).toEqual(["held"]);
  });
});

test.each<[string, Shape, Partial<Message>]>([
  ["stale", "queued", { generation: 7 }],
  ["done", "delivered", {}],
  ["dying", "dead", { messageId: "M-1" }],
  ["sibling", "dead", { sentAt: 0 }],
])("each message about a row that nobody moves is answered alike: %s", async (verdict, shape, more) => {
  const id = await newRow(database, shape);
  expect(await claimAll(database, message(id, more), message(id, more))).toEqual([verdict, verdict]);
});

test("and about a row that is not there", async () => {
  const id = randomUUID();
  expect(await claimAll(database, message(id), message(id))).toEqual(["gone", "gone"]);
});

test("a message about a row that no sweep can have sent yet is stale, and one that a sweep has sent is not", async () => {
  const later = { due_at: "now() + interval '1 day'" };
  const [waits, sent] = [
    await newRow(database, "pending", { owed_at: "now() + interval '1 day'", ...later }),
    await newRow(database, "queued", later),
  ];
  const before = await readRow(database, waits);
  expect(await claimAll(database, message(waits), message(sent))).toEqual(["stale", "claimed"]);
  expect(await readRow(database, waits)).toEqual(before);
});

test("what nobody wants any more is cancelled once", async () => {
  const id = await newRow(database, "queued");
  await database.sql`UPDATE owed.subscriber SET opted_out_at = now()`;
  expect(await claimAll(database, message(id), message(id))).toEqual(["cancelled", "held"]);
});

test("a dead row that nobody wants any more is cancelled without being told as redriven", async () => {
  const id = await newRow(database, "dead");
  await database.sql`UPDATE owed.subscriber SET opted_out_at = now()`;
  expect(await claimAll(database, message(id, { sentAt: Date.now() + 60_000 }))).toEqual(["cancelled"]);
  expect(await readTold()).toEqual([]);
});

test("a first claim is told by its row alone", async () => {
  const id = await newRow(database, "queued");
  expect(await claimAll(database, message(id))).toEqual(["claimed"]);
  expect(await readTold()).toEqual([]);
});

test("a worker that vanished is told by nobody, with the reason", async () => {
  const id = await newRow(database, "sending");
  await passTime(database.sql, durations.sendLease);
  await claimAll(database, message(id));
  expect(await readTold()).toEqual([
    { kind: "unknown", actor: null, reason: "no_outcome: the worker vanished before it recorded one" },
  ]);
});

test("a row that the old sender has is no worker's, although it is due: whoever made the message", async () => {
  const id = await newRow(database, "pending", { mode: "'shadow'", owed_at: "'infinity'" });
  const before = await readRow(database, id);
  expect(await claimAll(database, message(id))).toEqual(["stale"]);
  expect(await readRow(database, id)).toEqual(before);
});
