import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment, tellEveryUpdate } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { defaultDurations as durations } from "../durations.ts";
import { replay } from "../operate/replay.ts";
import { setRule } from "../rule/set-rule.ts";
import { markQueued } from "../sweep/mark-queued.ts";
import { receive, take } from "../testing/act.ts";
import { orWaits } from "../testing/race.ts";
import {
  type Columns,
  empty,
  everyShape,
  readRow,
  readRows,
  reshape,
  revive,
  rewriteRules,
  type Shape,
} from "../testing/rows.ts";
import { recordEvents } from "./record-events.ts";

// A newer event cancels, in its own transaction, what it makes moot of the shipment's earlier rows.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterEach(() => database.sql`UPDATE owed.merchant SET mode = 'owed'`);
afterAll(() => database.drop());

/** What is on its way is left to its claim. */
const open: Shape[] = ["pending"];

/** A shipment whose buyer is told that it was picked up, by a row of this shape. */
async function older(
  shape: Shape = "pending",
  columns: Columns = {},
): Promise<{ shipment: string; id: string }> {
  const shipment = await registerShipment(database);
  await happen(database, shipment, "picked_up", 60);
  const id = (await readRows(database, shipment))[0]?.id ?? "";
  await reshape(database, id, shape, columns);
  return { shipment, id };
}

/** What becomes of a row once its shipment is out for delivery: that it stays as it was, or how it ends. */
async function whenOut({ shipment, id }: { shipment: string; id: string }) {
  const before = await readRow(database, id);
  const event = await happen(database, shipment, "out_for_delivery");
  const after = await readRow(database, id);
  if (after.state !== "cancelled") expect(after).toEqual(before);
  const { reason, cancelled_by: by } = after;
  return after.state === "cancelled" && before.state !== "cancelled"
    ? { reason, by: by?.replace(event, "this one") }
    : "as it was";
}
const superseded = { reason: "superseded", by: "event this one" };

describe("of a row for the same recipient", () => {
  test.each(everyShape)("%s", async (shape) => {
    const row = await older(shape);
    expect(await whenOut(row)).toEqual(open.includes(shape) ? superseded : "as it was");
  });

  test("what is cancelled is owed no more, since now", async () => {
    const row = await older();
    await whenOut(row);
    expect(await readRow(database, row.id)).toMatchObject({ owed_at: null, cancelled_at: expect.any(Date) });
    expect(
      await database.sql`SELECT n.cancelled_at = e.recorded_at AS now FROM owed.notification n, owed.event e
        WHERE n.id = ${row.id} AND e.status = 'out_for_delivery'`,
    ).toEqual([{ now: true }]);
  });

  test.each(["old", "shadow"])("not what the old sender sends: %s", async (mode) => {
    const row = await older();
    await database.sql`UPDATE owed.notification SET mode = ${mode}, owed_at = 'infinity' WHERE id = ${row.id}`;
    expect(await whenOut(row)).toBe("as it was");
  });

  test("not what a person wants sent once more", async () => {
    const row = await older();
    await reshape(database, row.id, "pending", { replays: "id" });
    expect(await whenOut(row)).toBe("as it was");
  });

  test("not where the rule keeps every update, unless it asks for the current status", async () => {
    for (const [current, becomes] of [
      [false, "as it was"],
      [true, superseded],
    ] as const) {
      const row = await older();
      await rewriteRules(
        database,
        `newest_replaces = false, only_while_current = ${current}`,
        "status = 'picked_up'",
      );
      expect(await whenOut(row)).toEqual(becomes);
    }
    const row = await older();
    const again = await happen(database, row.shipment, "picked_up");
    expect((await readRow(database, row.id)).state, `after ${again} of the same status`).toBe("pending");
    await rewriteRules(
      database,
      "newest_replaces = true, only_while_current = false",
      "status = 'picked_up'",
    );
  });

  test.each<[string, Columns, object]>([
    ["too late", { send_by: "now()" }, { reason: "expired", by: "deadline" }],
    ["in time", { send_by: "now() + interval '1 min'" }, superseded],
    ["never too late", { send_by: "NULL" }, superseded],
  ])("says what made it moot: %s", async (_, columns, becomes) => {
    expect(await whenOut(await older("pending", columns))).toEqual(becomes);
  });

  test("says who made it moot: the recipient, or a suppression", async () => {
    const left = await older();
    await database.sql`SELECT owed.opt_out(${left.shipment}, 'buyer-1', 'email')`;
    expect(await whenOut(left)).toEqual({ reason: "opted_out", by: "recipient" });
    const suppressed = await older();
    const [suppression] = await database.sql<{ id: string }[]>`
      INSERT INTO owed.suppression (channel, address, cause, notification_id)
      VALUES ('email', 'buyer@example.com', 'bounced', ${suppressed.id}) RETURNING id::text`;
    expect(await whenOut(suppressed)).toEqual({
      reason: "suppressed",
      by: `suppression ${suppression?.id}`,
    });
  });
});

describe("the newer row", () => {
  const ofBuyer = { role: "buyer", channel: "email", template: "out_for_delivery" } as const;

  test("replaces nothing before it is due, and all of it from then on", async () => {
    const row = await older();
    await database.sql`INSERT INTO owed.merchant (id, name) VALUES ('M-later', 'Shop')`;
    await database.sql`UPDATE owed.shipment SET merchant_id = 'M-later' WHERE id = ${row.shipment}`;
    const rule = { ...ofBuyer, merchantId: "M-later", status: "out_for_delivery", delay: 3600, atTime: null };
    const more = { sendWithin: null, onlyWhileCurrent: false, newestReplaces: true, silent: false };
    await setRule(
      database.ledger,
      { ...rule, ...more, onUnknown: "resend" },
      { actor: "ann", why: "an hour later" },
    );
    expect(await whenOut(row)).toBe("as it was");
    await passTime(database.sql, 3590);
    expect((await readRow(database, row.id)).state).toBe("pending");
    await passTime(database.sql, 10);
    expect(await take(database)).toMatchObject({ cancelled: 1, leased: [{}] });
  });

  test("replaces the older one also when it comes too late itself", async () => {
    const shipment = await registerShipment(database);
    await happen(database, shipment, "picked_up", 40 * 86_400);
    const id = (await readRows(database, shipment))[0]?.id ?? "";
    await reshape(database, id, "pending", { send_by: "NULL" });
    const event = await happen(database, shipment, "out_for_delivery", 30 * 86_400);
    expect(await readRow(database, id)).toMatchObject({
      ...{ state: "cancelled", reason: "superseded", cancelled_by: `event ${event}` },
    });
  });

  test("replaces the rows of its own recipient and shipment alone; a follow-up with them", async () => {
    const [shipment, other] = [
      await registerShipment(database, ["buyer", "merchant"]),
      await registerShipment(database),
    ];
    await happen(database, other, "picked_up", 60);
    await happen(database, shipment, "customs_hold", 60);
    const event = await happen(database, shipment, "out_for_delivery");
    const rows = await database.sql`
      SELECT s.recipient_id AS who, r.template, n.state, n.cancelled_by AS by FROM owed.notification n
        JOIN owed.subscriber s ON s.id = n.subscriber_id JOIN owed.rule r ON r.id = n.rule_id ORDER BY n.id`;
    const by = `event ${event}`;
    expect(rows).toEqual([
      { who: "buyer-1", template: "picked_up", state: "pending", by: null },
      { who: "buyer-1", template: "customs_hold", state: "cancelled", by },
      { who: "buyer-1", template: "customs_hold.still", state: "cancelled", by },
      { who: "merchant-1", template: "customs_hold", state: "pending", by: null },
      { who: "buyer-1", template: "out_for_delivery", state: "pending", by: null },
    ]);
  });
});

describe("events in any order", () => {
  test("an older one that comes late replaces nothing, and is replaced itself", async () => {
    const shipment = await registerShipment(database);
    const newest = await happen(database, shipment, "out_for_delivery", 60);
    await happen(database, shipment, "picked_up", 3600);
    expect(await readRows(database, shipment)).toMatchObject([
      { state: "pending", cancelled_by: null },
      { state: "cancelled", cancelled_by: `event ${newest}` },
    ]);
  });

  test("one that comes twice does its work once", async () => {
    const { shipment, id } = await older();
    const at = new Date().toISOString();
    const event = { id: `E-${shipment}`, shipmentId: shipment, status: "out_for_delivery", occurredAt: at };
    expect(await recordEvents(database.ledger, [event])).toMatchObject([{ outcome: "recorded" }]);
    await revive(database, id);
    expect(await recordEvents(database.ledger, [event])).toMatchObject([{ outcome: "repeated" }]);
    expect((await readRow(database, id)).state).toBe("pending");
    expect(await readRows(database, shipment)).toHaveLength(2);
  });

  test("a backlog of five becomes the current one", async () => {
    const shipment = await registerShipment(database);
    const statuses = ["picked_up", "customs_hold", "customs_released", "out_for_delivery", "delivered"];
    for (const [place, status] of statuses.entries()) await happen(database, shipment, status, 60 - place);
    const { leased, cancelled } = await take(database);
    expect([leased, cancelled]).toEqual([[expect.objectContaining({ generation: 0 })], 0]);
    expect(await receive(database, leased[0]?.id ?? "")).toMatchObject({
      verdict: "claimed",
      shipment: { status: "delivered" },
    });
    const told = await database.sql`
      SELECT n.state, n.reason, count(*)::int, bool_and(n.cancelled_by ~ '^event E-') AS named
      FROM owed.notification n GROUP BY 1, 2 ORDER BY 1`;
    // The customs hold has a follow-up as well.
    expect(told).toEqual([
      { state: "cancelled", reason: "superseded", count: 5, named: true },
      { state: "sending", reason: null, count: 1, named: null },
    ]);
  });

  test("where every update is told, five are five", async () => {
    const shipment = await registerShipment(database);
    await tellEveryUpdate(database, shipment);
    for (let ago = 5; ago > 0; ago -= 1) await happen(database, shipment, "out_for_delivery", ago);
    expect((await take(database)).leased).toHaveLength(5);
  });
});

test("a row that somebody holds is skipped, the event does not wait for it, and the next lease cancels it", async () => {
  const { shipment, id } = await older();
  await happen(database, shipment, "customs_hold", 30);
  await revive(database, id);
  let event = "";
  await database.sql.begin(async (holder) => {
    await holder`SELECT FROM owed.notification WHERE id = ${id} FOR UPDATE`;
    event = await orWaits(database.sql, happen(database, shipment, "out_for_delivery"));
    expect(event).not.toBe("waits");
    const states = (await readRows(database, shipment)).map(({ state }) => state);
    expect(states).toEqual(["pending", "cancelled", "cancelled", "pending"]);
  });
  expect(await take(database)).toMatchObject({ cancelled: 1, leased: [{}] });
  expect(await readRow(database, id)).toMatchObject({ state: "cancelled", reason: "superseded" });
  expect((await readRow(database, id)).cancelled_by).toMatch(/^event E-/);
});

test("what a sweep has leased is marked although an event's transaction stays open: nobody waits for the platform", async () => {
  const { shipment, id } = await older();
  const { leased } = await take(database);
  await database.sql.begin(async (platform) => {
    await platform`SELECT owed.record_event('E-open', ${shipment}, 'out_for_delivery', now())`;
    expect(await orWaits(database.sql, markQueued(database.ledger, durations, leased))).toBe(1);
  });
  expect(await receive(database, id)).toEqual({ verdict: "cancelled" });
  expect(await readRow(database, id)).toMatchObject({ reason: "superseded", cancelled_by: "event E-open" });
});

test("while the old sender sends for a merchant, its rows are owed at infinity: not leased, claimed or cancelled", async () => {
  const shipment = await registerShipment(database);
  for (const mode of ["old", "shadow"]) {
    await database.sql`UPDATE owed.merchant SET mode = ${mode} WHERE id = 'M-1'`;
    await happen(database, shipment, "out_for_delivery");
  }
  expect(
    await database.sql`SELECT mode, state, owed_at = 'infinity' AS never FROM owed.notification ORDER BY id`,
  ).toEqual([
    { mode: "old", state: "pending", never: true },
    { mode: "shadow", state: "pending", never: true },
  ]);
  expect(await take(database)).toMatchObject({ leased: [], cancelled: 0 });
  for (const { id } of await readRows(database, shipment))
    expect(await receive(database, id)).toEqual({ verdict: "stale" });
});

test("another shipment's rows are none of its business, whatever their reason to end", async () => {
  const [before, { shipment }, after] = [await older(), await older(), await older()];
  for (const { id } of [before, after])
    await database.sql`UPDATE owed.notification SET send_by = now() - interval '1 minute' WHERE id = ${id}`;
  await happen(database, shipment, "out_for_delivery");
  for (const { id } of [before, after])
    expect(await readRow(database, id)).toMatchObject({ state: "pending" });
});

test("where the old sender sends, who has no address is nobody's: the row is dead, and can be replayed", async () => {
  const shipment = await registerShipment(database);
  await database.sql`UPDATE owed.subscriber SET address = NULL WHERE shipment_id = ${shipment}`;
  await database.sql`UPDATE owed.merchant SET mode = 'shadow'`;
  await happen(database, shipment, "picked_up");
  const [row] = await readRows(database, shipment);
  expect(row).toMatchObject({ state: "dead", reason: "no_address", mode: null });
  expect(
    await replay(database.ledger, [row?.id ?? ""], { actor: "ann", why: "corrected" }, "replayed"),
  ).toMatchObject({ ids: [row?.id] });
});
