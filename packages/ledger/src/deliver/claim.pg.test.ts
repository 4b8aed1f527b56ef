import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { defaultDurations as durations } from "../durations.ts";
import { claimAll, claimRow, message, receive } from "../testing/act.ts";
import { setChannel } from "../testing/channel.ts";
import { empty, newRow, readRow, readRows, readTries, type Shape, secondsUntil } from "../testing/rows.ts";
import type { Message } from "./claim.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

describe("a claim", () => {
  test("writes the intent: token, attempt, message, address and a lease, before any call (4)", async () => {
    const id = await newRow(database, "queued");
    const messageId = randomUUID();
    expect(await receive(database, id, { messageId })).toMatchObject({ verdict: "claimed", token: 2 });
    const row = await readRow(database, id);
    expect(row).toMatchObject({
      state: "sending",
      lease_token: 2,
      generation: 0,
      attempts: 1,
      message_id: messageId,
      sent_to: "buyer@example.com",
      reason: null,
    });
    expect(await secondsUntil(database, id, "claimed_at")).toBeCloseTo(0, 0);
    expect(await secondsUntil(database, id, "leased_until")).toBeCloseTo(durations.sendLease, -1);
    expect(await readTries(database, id)).toEqual([]);
  });

  test("hands over what the worker sends, as it stands now", async () => {
    const shipment = await registerShipment(database);
    await happen(database, shipment, "out_for_delivery");
    const [row] = await readRows(database, shipment);
    await database.sql`SELECT owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'email', 'new@example.com', 'Zoë 🐝', 'nl-BE')`;
    await setChannel(database, { rate: "14.5", failures: "3" });
    const { token, group, shipment: told, ...claimed } = await claimRow(database, row?.id ?? "");
    expect(claimed).toEqual({
      verdict: "claimed",
      channel: "email",
      template: "out_for_delivery",
      role: "buyer",
      address: "new@example.com",
      name: "Zoë 🐝",
      locale: "nl-BE",
      timeZone: null,
      merchant: { id: "M-1", name: "Shop", trackingUrl: null },
      rate: 14.5,
      failures: 3,
    });
    expect(told).toEqual({
      id: shipment,
      trackingNumber: expect.stringMatching(/^T-/),
      status: "out_for_delivery",
      occurredAt: expect.any(Date),
    });
    expect(token).toBe(1);
    expect(await database.sql`SELECT id::text FROM owed.subscriber WHERE shipment_id = ${shipment}`).toEqual([
      { id: group },
    ]);
  });

  test.each<[string, Shape, string, number]>([
    ["stays where the mark put it", "queued", "now() + interval '20 min'", 1200],
    [
      "moves on when it would come due during the send",
      "queued",
      "now() + interval '30 s'",
      durations.sendLease,
    ],
    ["moves on from the past", "pending", "now() - interval '1 day'", durations.sendLease],
  ])("when somebody looks again: %s", async (_, shape, owedAt, expected) => {
    const id = await newRow(database, shape, { owed_at: owedAt });
    await claimRow(database, id);
    expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(expected, -1);
  });

  test("keeps one mark a minute: what was queued before a row that was claimed", async () => {
    const [older, newer, next] = [
      await newRow(database, "queued", { queued_at: "now() - interval '9 min'" }),
      await newRow(database, "queued", { queued_at: "now() - interval '5 min'" }),
      await newRow(database, "queued", { queued_at: "now() - interval '1 min'" }),
    ];
    await claimAll(database, message(older), message(newer));
    await claimAll(database, message(next));
    const marks = await database.sql<{ ago: number; aligned: boolean }[]>`
      SELECT extract(epoch FROM now() - queued_at)::float8 AS ago, minute = date_trunc('minute', minute, 'UTC') AS aligned FROM owed.claim_mark ORDER BY minute`;
    // The second claim falls into the same minute, unless the test began at the end of one.
    expect(marks.length).toBeLessThanOrEqual(2);
    expect(marks[0]?.ago).toBeCloseTo(300, -1);
    expect(marks[0]?.aligned).toBe(true);
  });

  test("a worker faster than the mark leaves the time of the lease: the row was queued after it", async () => {
    const id = await newRow(database, "leased");
    const [row] = await database.sql<{ at: Date }[]>`
      SELECT leased_until - make_interval(secs => ${durations.lease}) AS at FROM owed.notification WHERE id = ${id}`;
    await claimRow(database, id);
    expect(await database.sql`SELECT queued_at AS at FROM owed.claim_mark`).toEqual([row]);
  });

  test("a batch of rows that were neither queued nor leased leaves no mark", async () => {
    await claimRow(database, await newRow(database, "pending"));
    expect(await database.sql`SELECT FROM owed.claim_mark`).toEqual([]);
  });
});

describe("what deliver does with a message", () => {
  const later = { sentAt: Date.now() + 60_000 };
  test.each<[string, Shape, Partial<Message>, string]>([
    ["pending", "pending", {}, "claimed"],
    ["leased: the message came before the mark", "leased", {}, "claimed"],
    ["queued", "queued", {}, "claimed"],
    ["of an older generation", "queued", { generation: -1 }, "stale"],
    ["of a generation that is not there yet", "queued", { generation: 1 }, "stale"],
    ["sending, another worker's lease lives", "sending", {}, "held"],
    ["sending, the same message again", "sending", { messageId: "M-1" }, "held"],
    ["unknown", "unknown", {}, "done"],
    ["unknown and held", "held", {}, "done"],
    ["delivered", "delivered", {}, "done"],
    ["cancelled", "cancelled", {}, "done"],
    ["dead, by this very message", "dead", { messageId: "M-1" }, "dying"],
    ["dead, by this very message, whenever it was sent", "dead", { messageId: "M-1", ...later }, "dying"],
    [
      "dead, another message sent before it died: a sibling",
      "dead",
      { sentAt: Date.now() - 60_000 },
      "sibling",
    ],
    ["dead, another message sent later: a redrive", "dead", later, "claimed"],
    [
      "lost, so that nobody saw it die: a message sent before",
      "lost",
      { generation: 3, sentAt: 0 },
      "claimed",
    ],
  ])("%s", async (_, shape, more, verdict) => {
    const id = await newRow(database, shape);
    const before = await readRow(database, id);
    expect(await claimAll(database, message(id, more))).toEqual([verdict]);
    if (verdict !== "claimed") expect(await readRow(database, id)).toEqual(before);
    else
      expect(await readRow(database, id)).toMatchObject({
        state: "sending",
        lease_token: before.lease_token + 1,
        attempts: before.attempts + 1,
        died_at: null,
        stopped_at: null,
      });
  });

  test("no such row", async () => {
    expect(await claimAll(database, message(randomUUID()))).toEqual(["gone"]);
  });

  test("sending, its lease has passed: unknown from now on, and waits for evidence (13)", async () => {
    const id = await newRow(database, "sending");
    await passTime(database.sql, durations.sendLease);
    expect(await claimAll(database, message(id))).toEqual(["unknown"]);
    expect(await readRow(database, id)).toMatchObject({
      state: "unknown",
      lease_token: 2,
      generation: 0,
      attempts: 1,
      message_id: "M-1",
      reason: expect.stringMatching(/^no_outcome:/),
    });
    expect(await secondsUntil(database, id, "owed_at")).toBeCloseTo(durations.grace, -1);
    expect(await readTries(database, id)).toEqual(["unknown"]);
  });

  test("a redrive is told in the row's history", async () => {
    const id = await newRow(database, "dead");
    await claimAll(database, message(id, later));
    expect(
      await database.sql`SELECT kind, actor, message_id IS NOT NULL AS message FROM owed.attempt`,
    ).toEqual([{ kind: "redriven", actor: "queue", message: true }]);
  });
});
