import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../tests/support/shipment.ts";
import { passTime } from "../../../tests/support/time.ts";
import { sendAgain } from "./operate/send-again.ts";
import { look, nothing, receive, take } from "./testing/act.ts";
import { empty, readRow, readTries, reshape, revive, rewriteRules, type Shape } from "./testing/rows.ts";

// What is no longer true is not sent: seen when a row is leased, and once more when it is claimed (18).

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

/** The row that tells a recipient of a shipment about an event by a template. */
async function rowOf(event: string, recipient = "buyer-1", template = "%"): Promise<string> {
  const [row] = await database.sql<{ id: string }[]>`
    SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key JOIN owed.subscriber s ON s.id = n.subscriber_id
      JOIN owed.rule r ON r.id = n.rule_id
    WHERE e.id = ${event} AND s.recipient_id = ${recipient} AND r.template LIKE ${template} ORDER BY r.delay_s LIMIT 1`;
  if (!row) throw new Error(`${recipient} is not told about ${event}`);
  return row.id;
}

type Case = { row: string };

/** The row, although a newer event has cancelled it. */
async function asIfSkipped(row: string): Promise<string> {
  await revive(database, row);
  return row;
}

/** Each makes one row, whose truth has gone. */
const untrue: Record<string, { reason: string; by: RegExp; arrange: () => Promise<Case> }> = {
  "its time to be sent is over": {
    reason: "expired",
    by: /^deadline$/,
    async arrange() {
      const row = await rowOf(await happen(database, await registerShipment(database), "out_for_delivery"));
      await passTime(database.sql, 86400);
      return { row };
    },
  },
  "the recipient opted out": {
    reason: "opted_out",
    by: /^recipient$/,
    async arrange() {
      const shipment = await registerShipment(database);
      const row = await rowOf(await happen(database, shipment, "out_for_delivery"));
      await database.sql`SELECT owed.opt_out(${shipment}, 'buyer-1', 'email')`;
      return { row };
    },
  },
  "the recipient was erased": {
    reason: "erased",
    by: /^recipient$/,
    async arrange() {
      const shipment = await registerShipment(database);
      const row = await rowOf(await happen(database, shipment, "out_for_delivery"));
      await database.sql`UPDATE owed.subscriber SET erased_at = now() WHERE shipment_id = ${shipment}`;
      return { row };
    },
  },
  "a newer status was delivered to the same recipient": {
    reason: "superseded",
    by: /^event [-E0-9a-f]{36,38}$/,
    async arrange() {
      const shipment = await registerShipment(database);
      const row = await rowOf(await happen(database, shipment, "picked_up", 60));
      await reshape(database, await rowOf(await happen(database, shipment, "out_for_delivery")), "delivered");
      return { row: await asIfSkipped(row) };
    },
  },
  "a newer status is owed to the same recipient": {
    reason: "superseded",
    by: /^event [-E0-9a-f]{36,38}$/,
    async arrange() {
      const shipment = await registerShipment(database);
      const row = await rowOf(await happen(database, shipment, "picked_up", 60));
      await reshape(database, await rowOf(await happen(database, shipment, "out_for_delivery")), "queued");
      return { row: await asIfSkipped(row) };
    },
  },
  "a newer status is owed, and comes too late": {
    reason: "superseded",
    by: /^event [-E0-9a-f]{36,38}$/,
    async arrange() {
      const shipment = await registerShipment(database);
      const row = await rowOf(await happen(database, shipment, "picked_up", 60));
      const newer = await rowOf(await happen(database, shipment, "out_for_delivery"));
      await reshape(database, newer, "queued", { send_by: "now()" });
      return { row: await asIfSkipped(row) };
    },
  },
  "a newer status came too late": {
    reason: "superseded",
    by: /^event [-E0-9a-f]{36,38}$/,
    async arrange() {
      const shipment = await registerShipment(database);
      const row = await rowOf(await happen(database, shipment, "picked_up", 60));
      const newer = await rowOf(await happen(database, shipment, "out_for_delivery"));
      await reshape(database, newer, "cancelled", { reason: "'expired'" });
      return { row: await asIfSkipped(row) };
    },
  },
  "a newer status was superseded itself": {
    reason: "superseded",
    by: /^event [-E0-9a-f]{36,38}$/,
    async arrange() {
      const shipment = await registerShipment(database);
      const row = await rowOf(await happen(database, shipment, "picked_up", 60));
      const newer = await rowOf(await happen(database, shipment, "out_for_delivery"));
      await reshape(database, newer, "cancelled", { reason: "'superseded'" });
      return { row: await asIfSkipped(row) };
    },
  },
  "a newer follow-up has fallen due": {
    reason: "superseded",
    by: /^event [-E0-9a-f]{36,38}$/,
    async arrange() {
      const shipment = await registerShipment(database);
      const row = await rowOf(await happen(database, shipment, "picked_up", 170_000));
      const event = await happen(database, shipment, "customs_hold", 90_000);
      await reshape(database, await rowOf(event), "dead");
      await reshape(database, await rowOf(event, "buyer-1", "customs_hold.still"), "queued");
      return { row: await asIfSkipped(row) };
    },
  },
  "a newer status of the same time was delivered: the event's id decides": {
    reason: "superseded",
    by: /^event [-E0-9a-f]{36,38}$/,
    async arrange() {
      const shipment = await registerShipment(database);
      const ids = [randomUUID(), randomUUID()].sort();
      for (const id of ids)
        await database.sql`SELECT owed.record_event(${id}, ${shipment}, 'picked_up', '2026-01-01 00:00Z')`;
      await database.sql`UPDATE owed.notification SET send_by = NULL`;
      await reshape(database, await rowOf(ids[1] ?? ""), "delivered");
      return { row: await asIfSkipped(await rowOf(ids[0] ?? "")) };
    },
  },
  "its status is no longer the current one, and the rule asks for that": {
    reason: "superseded",
    by: /^event [-E0-9a-f]{36,38}$/,
    async arrange() {
      const shipment = await registerShipment(database);
      const event = await happen(database, shipment, "customs_hold", 90_000);
      await happen(database, shipment, "customs_released");
      return { row: await asIfSkipped(await rowOf(event, "buyer-1", "customs_hold.still")) };
    },
  },
};

describe.each(Object.entries(untrue))("when %s", (_, { reason, by, arrange }) => {
  test("a sweep cancels the row with the reason, and publishes nothing", async () => {
    const { row } = await arrange();
    const { leased, cancelled } = await take(database);
    expect(leased.map(({ id }) => id)).not.toContain(row);
    expect(cancelled).toBe(1);
    expect(await readRow(database, row)).toMatchObject({
      state: "cancelled",
      owed_at: null,
      reason,
      cancelled_by: expect.stringMatching(by),
      attempts: 0,
    });
  });

  test.each<Shape>(["pending", "leased", "queued", "dead"])(
    "a worker cancels a %s row instead of claiming it",
    async (shape) => {
      const { row } = await arrange();
      await reshape(database, row, shape);
      await database.sql`UPDATE owed.notification SET died_at = NULL WHERE id = ${row}`;
      const { attempts } = await readRow(database, row);
      expect(await receive(database, row)).toEqual({ verdict: "cancelled" });
      expect(await readRow(database, row)).toMatchObject({
        state: "cancelled",
        owed_at: null,
        stopped_at: null,
        died_at: null,
        reason,
        cancelled_by: expect.stringMatching(by),
        attempts,
      });
      expect(await readTries(database, row)).toEqual([]);
      expect(await receive(database, row)).toEqual({ verdict: "done" });
    },
  );

  test("an expired lease is no way around it", async () => {
    const { row } = await arrange();
    await reshape(database, row, "leased", { owed_at: "now()" });
    expect(await take(database)).toMatchObject({ cancelled: 1 });
  });
});

/** Each makes one row that is still true. */
const stillTrue: Record<string, () => Promise<Case>> = {
  "a second before its time is over": async () => {
    const row = await rowOf(await happen(database, await registerShipment(database), "out_for_delivery"));
    await passTime(database.sql, 86400 - 60);
    return { row };
  },
  "a newer status is owed later only": async () => {
    const shipment = await registerShipment(database);
    const row = await rowOf(await happen(database, shipment, "picked_up", 60));
    const event = await happen(database, shipment, "customs_hold", 30);
    await reshape(database, await rowOf(event), "dead");
    return { row: await asIfSkipped(row) };
  },
  "a newer status could not be told": async () => {
    const shipment = await registerShipment(database);
    const row = await rowOf(await happen(database, shipment, "picked_up", 60));
    await reshape(database, await rowOf(await happen(database, shipment, "out_for_delivery")), "dead");
    return { row: await asIfSkipped(row) };
  },
  "a newer status was cancelled": async () => {
    const shipment = await registerShipment(database);
    const row = await rowOf(await happen(database, shipment, "picked_up", 60));
    await reshape(database, await rowOf(await happen(database, shipment, "out_for_delivery")), "cancelled");
    return { row: await asIfSkipped(row) };
  },
  "an older status was delivered": async () => {
    const shipment = await registerShipment(database);
    await reshape(database, await rowOf(await happen(database, shipment, "picked_up", 60)), "delivered");
    return { row: await rowOf(await happen(database, shipment, "out_for_delivery")) };
  },
  "a newer status was delivered to somebody else": async () => {
    const shipment = await registerShipment(database, ["buyer", "merchant"]);
    const row = await rowOf(await happen(database, shipment, "customs_hold", 60));
    const newer = await happen(database, shipment, "delivered");
    await reshape(database, await rowOf(newer, "merchant-1"), "delivered");
    await reshape(database, await rowOf(newer), "dead");
    return { row: await asIfSkipped(row) };
  },
  "a newer status was delivered, and the rule does not let it replace the older": async () => {
    const shipment = await registerShipment(database);
    const row = await rowOf(await happen(database, shipment, "picked_up", 60));
    await reshape(database, await rowOf(await happen(database, shipment, "out_for_delivery")), "delivered");
    await asIfSkipped(row);
    await rewriteRules(
      database,
      "newest_replaces = false",
      `id = (SELECT rule_id FROM owed.notification WHERE id = '${row}')`,
    );
    return { row };
  },
  "a person wants it sent once more, although a newer status was delivered": async () => {
    const shipment = await registerShipment(database);
    const older = await rowOf(await happen(database, shipment, "picked_up", 60));
    await reshape(database, older, "delivered");
    await reshape(database, await rowOf(await happen(database, shipment, "out_for_delivery")), "delivered");
    return { row: await sendAgain(database.ledger, older, { actor: "ann", why: "the customer called" }) };
  },
  "a follow-up whose status is still the current one": async () => {
    const event = await happen(database, await registerShipment(database), "customs_hold", 90_000);
    return { row: await rowOf(event, "buyer-1", "customs_hold.still") };
  },
};

describe.each(Object.entries(stillTrue))("%s: still true", (name, arrange) => {
  test("leased, and claimed", async () => {
    const { row } = await arrange();
    expect((await take(database)).leased.map(({ id }) => id)).toContain(row);
    expect(await receive(database, row), name).toMatchObject({ verdict: "claimed" });
    await rewriteRules(database, "newest_replaces = true");
  });
});

test("moot is judged for pending and leased rows alone: what was sent, or perhaps sent, waits for its outcome", async () => {
  const shapes = ["sending", "unknown", "queued"] as const;
  for (const shape of shapes) {
    const row = await rowOf(await happen(database, await registerShipment(database), "out_for_delivery"));
    await reshape(database, row, shape, { owed_at: "now()", send_by: "now()" });
  }
  expect(await take(database)).toEqual(nothing);
  expect((await look(database)).taken).toBe(3);
  expect(await database.sql`SELECT FROM owed.notification WHERE state = 'cancelled'`).toEqual([]);
});
