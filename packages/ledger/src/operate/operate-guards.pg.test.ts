import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { readChannel, shut } from "../testing/channel.ts";
import { race } from "../testing/race.ts";
import { empty, newRow, readRow, type Shape } from "../testing/rows.ts";
import { cancel } from "./cancel.ts";
import { closeChannel } from "./close-channel.ts";
import { liftSuppression } from "./lift-suppression.ts";
import { lookAtQueued } from "./look-at-queued.ts";
import { noteRedrive } from "./note-redrive.ts";
import { openChannel } from "./open-channel.ts";
import { replay } from "./replay.ts";
import { resolveAsSent } from "./resolve-as-sent.ts";
import { sendAgain } from "./send-again.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const act = { actor: "ann", why: "the customer called" };
const acts: [string, Shape, (id: string) => Promise<unknown>][] = [
  ["cancel", "dead", (id) => cancel(database.ledger, id, act)],
  ["replay", "dead", (id) => replay(database.ledger, [id], act, "replayed")],
  ["resolve", "unknown", (id) => resolveAsSent(database.ledger, id, act)],
  ["send again", "delivered", (id) => sendAgain(database.ledger, id, act)],
  ["note a redrive", "dead", (id) => noteRedrive(database.ledger, [id], { at: new Date(), ...act })],
];

test.each(acts)("who asks to %s one row changes, and tells, nothing of another", async (_, shape, run) => {
  const [one, other] = [await newRow(database, shape), await newRow(database, shape)];
  const before = await readRow(database, other);
  await run(one);
  expect(await readRow(database, other)).toEqual(before);
  const told = await database.sql`
    SELECT DISTINCT coalesce(n.replays, n.id) AS id FROM owed.attempt a JOIN owed.notification n ON n.id = a.notification_id`;
  expect(told).toEqual([{ id: one }]);
});

const lockChannel = "SELECT FROM owed.channel WHERE name = 'email' FOR UPDATE";

test("of two who close a channel at once the first one's words stay; the other channel stays open", async () => {
  const close = (actor: string) => () => closeChannel(database.ledger, "email", { actor, why: "trouble" });
  expect(await race(database, lockChannel, [close("ann"), close("ben")])).toEqual([true, false]);
  expect(await readChannel(database)).toMatchObject({ closed_for: "operator", closed_why: "ann: trouble" });
  expect(await readChannel(database, "sms")).toMatchObject({ closed: null, closed_for: null });
});

test("of two who open a channel at once the first one has opened it; the other channel stays closed", async () => {
  await shut(database, null);
  await shut(database, null, { name: "sms" });
  const open = () => openChannel(database.ledger, "email", { actor: "ana", why: "mended" });
  expect(await race(database, lockChannel, [open, open])).toEqual([true, false]);
  expect(await readChannel(database, "sms")).toMatchObject({ closed: Number.POSITIVE_INFINITY });
});

test("a suppression is lifted for one address on one channel", async () => {
  const id = await newRow(database, "delivered");
  const suppressed = [
    ["email", "ann@example.com"],
    ["email", "ben@example.com"],
    ["sms", "ann@example.com"],
  ] as const;
  for (const [channel, address] of suppressed)
    await database.sql`INSERT INTO owed.suppression (channel, address, cause, notification_id) VALUES (${channel}, ${address}, 'bounced', ${id})`;
  await liftSuppression(database.ledger, { channel: "email", address: "ann@example.com" }, act);
  expect(
    await database.sql`SELECT channel, address FROM owed.suppression WHERE lifted_at IS NULL ORDER BY channel`,
  ).toEqual([
    { channel: "email", address: "ben@example.com" },
    { channel: "sms", address: "ann@example.com" },
  ]);
});

test("a queued row that is overdue keeps its place when all are to be looked at", async () => {
  const overdue = await newRow(database, "queued", { owed_at: "now() - interval '1 hour'" });
  await newRow(database, "queued");
  const before = await readRow(database, overdue);
  expect(await lookAtQueued(database.ledger)).toBe(1);
  expect(await readRow(database, overdue)).toEqual(before);
});

test("a refused act names the state of its own row", async () => {
  await newRow(database, "pending");
  const id = await newRow(database, "delivered");
  await expect(cancel(database.ledger, id, act)).rejects.toThrow(`${id} is delivered`);
});

test.each<[Shape, string]>([
  ["lost", "the customer called (before: lost)"],
  ["dead", "the customer called"],
])("the replay of a %s row keeps why it died, unless a try does", async (shape, reason) => {
  await replay(database.ledger, [await newRow(database, shape)], act, "replayed");
  expect(await database.sql`SELECT reason FROM owed.attempt`).toEqual([{ reason }]);
});

test("of two who replay a row at once the first one has replayed it", async () => {
  const id = await newRow(database, "dead");
  const run = async () => (await replay(database.ledger, [id], act, "replayed")).ids;
  const lock = `SELECT FROM owed.notification WHERE id = '${id}' FOR UPDATE`;
  expect(await race(database, lock, [run, run])).toEqual([[id], []]);
  expect(await readRow(database, id)).toMatchObject({ state: "pending", generation: 1 });
});

test("a row sent again is its event's next one, however many other events have", async () => {
  await newRow(database, "delivered");
  const id = await newRow(database, "delivered");
  await newRow(database, "delivered");
  const again = await sendAgain(database.ledger, id, act);
  const [next] = await database.sql`
    SELECT owed.notification_id(event_key, 2) AS id FROM owed.notification WHERE id = ${id}`;
  expect(again).toBe(next?.id);
});

test("what is in the archive is refused as such, whatever else there is", async () => {
  const [archived, living] = [await newRow(database, "delivered"), await newRow(database, "delivered")];
  await database.sql`
    WITH moved AS (DELETE FROM owed.notification WHERE id = ${archived} RETURNING *)
    INSERT INTO owed.notification_archive SELECT * FROM moved`;
  await expect(cancel(database.ledger, archived, act)).rejects.toThrow("is delivered and in the archive");
  await expect(cancel(database.ledger, living, act)).rejects.toThrow("is delivered and can't be cancelled");
});
