import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { readChannels } from "../ask/channels.ts";
import { recordLimits } from "../channel/record-limits.ts";
import { defaultDurations as durations } from "../durations.ts";
import { openChannel } from "../operate/open-channel.ts";
import { nothing, receive, take } from "../testing/act.ts";
import { shut } from "../testing/channel.ts";
import {
  empty,
  newRow,
  readRow,
  readRows,
  readTries,
  reshape,
  rewriteRules,
  type Shape,
  secondsUntil,
} from "../testing/rows.ts";
import { claim } from "./claim.ts";

// What the queue still has of a closed channel goes back to the ledger.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const later = { sentAt: Date.now() + 3_600_000 };
const claimable: [string, Shape, { generation?: number }, string[]][] = [
  ["pending", "pending", {}, []],
  ["leased", "leased", {}, []],
  ["queued", "queued", {}, []],
  ["dead, and redriven", "dead", {}, ["redriven"]],
  ["dead as lost, and its message turned up", "lost", { generation: 3 }, ["redriven"]],
];

describe.each(claimable)("a row that is %s", (_, shape, message, tries) => {
  test("is deferred while its channel is closed: next generation, no attempt spent, its old place in the line", async () => {
    const id = await newRow(database, shape, { due_at: "now() - interval '1 hour'" });
    const before = await readRow(database, id);
    await shut(database, 300);
    expect(await receive(database, id, { ...later, ...message })).toEqual({ verdict: "deferred" });
    expect(await readRow(database, id)).toMatchObject({
      state: "pending",
      owed_at: before.due_at,
      generation: before.generation + 1,
      attempts: before.attempts,
      lease_token: before.lease_token,
      message_id: before.message_id,
      rescues: before.rescues,
      sent_to: null,
      died_at: null,
      stopped_at: null,
    });
    expect(await readTries(database, id)).toEqual(tries);
    expect(await database.sql`SELECT FROM owed.claim_mark`).toEqual([]);

    // Its message is stale from now on, also when the queue hands it over once more.
    expect(await receive(database, id, { ...later, ...message })).toEqual({ verdict: "stale" });
    await passTime(database.sql, 290);
    expect(await take(database)).toEqual(nothing);
    await passTime(database.sql, 10);
    expect((await take(database)).leased).toMatchObject([{ id, generation: before.generation + 1 }]);
  });

  test("is owed as soon as its channel opens, be it earlier than was thought", async () => {
    const id = await newRow(database, shape);
    for (const [closedFor, open] of [
      [null, () => openChannel(database.ledger, "email", { actor: "ana", why: "mended" })],
      [3600, () => recordLimits(database.ledger, "email", { rate: 1, quota: 9, used: 1 }, 300)],
    ] as const) {
      await reshape(database, id, shape);
      await shut(database, closedFor, { reason: "quota" });
      const { generation } = await readRow(database, id);
      expect(await receive(database, id, { ...later, generation })).toEqual({ verdict: "deferred" });
      expect(await take(database)).toEqual(nothing);
      expect((await readChannels(database.ledger, durations))[0]).toMatchObject({ due: 1 });
      await open();
      expect((await take(database)).leased).toMatchObject([{ id }]);
    }
  });

  test("is cancelled rather than deferred when nobody wants it any more", async () => {
    const id = await newRow(database, shape, { send_by: "now()" });
    await shut(database, 300);
    expect(await receive(database, id, { ...later, ...message })).toEqual({ verdict: "cancelled" });
    expect(await readRow(database, id)).toMatchObject({ state: "cancelled", reason: "expired" });
  });
});

test.each<[string, Shape, Parameters<typeof receive>[2], string]>([
  ["of another generation", "queued", { generation: 7 }, "stale"],
  ["sending", "sending", {}, "held"],
  ["unknown", "unknown", {}, "done"],
  ["held", "held", {}, "done"],
  ["delivered", "delivered", {}, "done"],
  ["cancelled", "cancelled", {}, "done"],
  ["dead by this very message", "dead", { messageId: "M-1" }, "dying"],
  ["dead, by a sibling's message", "dead", { sentAt: Date.now() - 60_000 }, "sibling"],
])("nothing else is deferred: %s", async (_, shape, message, verdict) => {
  const id = await newRow(database, shape);
  const before = await readRow(database, id);
  await shut(database, 300);
  expect(await receive(database, id, message)).toEqual({ verdict });
  expect(await readRow(database, id)).toEqual(before);
});

test("a vanished worker's row becomes unknown all the same", async () => {
  const id = await newRow(database, "sending");
  await passTime(database.sql, durations.sendLease);
  await shut(database, 300);
  expect(await receive(database, id)).toEqual({ verdict: "unknown" });
});

test("a batch: the closed channel's rows are deferred, once each, and the others are claimed", async () => {
  const [closed, open] = [
    await newRow(database, "queued"),
    await newRow(database, "queued", { channel: "'sms'" }),
  ];
  await shut(database, 300);
  const messages = [closed, closed, open].map((id) => ({
    id,
    generation: 0,
    messageId: randomUUID(),
    sentAt: Date.now(),
  }));
  const verdicts = await claim(database.ledger, durations, messages);
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(["deferred", "held", "claimed"]);
  expect(await readRow(database, closed)).toMatchObject({ state: "pending", generation: 1 });
});

test("a row that is not due yet is owed now, not later: its message was there", async () => {
  const id = await newRow(database, "queued", { due_at: "now() + interval '1 hour'" });
  await shut(database, 300);
  expect(await receive(database, id)).toEqual({ verdict: "deferred" });
  expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(0, -1);
});

test("rows of one group that come back keep their order, before what waited in the ledger", async () => {
  await rewriteRules(database, "newest_replaces = false");
  const shipment = await registerShipment(database);
  for (const [place, status] of (["picked_up", "customs_released", "out_for_delivery"] as const).entries())
    await happen(database, shipment, status, 60 - place);
  const ids = (await readRows(database, shipment)).map(({ id }) => id);
  const first = (await take(database, { most: 2 })).leased.map(({ id }) => id);
  expect(first).toEqual(ids.slice(0, 2));
  await shut(database, null);
  for (const id of first.toReversed()) await receive(database, id);
  await openChannel(database.ledger, "email", { actor: "ana", why: "mended" });
  expect((await take(database)).leased.map(({ id }) => id)).toEqual(ids);
  await rewriteRules(database, "newest_replaces = true");
});

test("a channel that was closed until now is open", async () => {
  const id = await newRow(database, "queued");
  await shut(database, 0);
  expect(await receive(database, id)).toMatchObject({ verdict: "claimed" });
});
