import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, owe, registerShipment } from "../../../../tests/support/shipment.ts";
import { audit } from "../ask/audit.ts";
import { show } from "../ask/show.ts";
import { keepRefusedEvent } from "../event/keep-refused-event.ts";
import { recordEvents } from "../event/record-events.ts";
import { sendAgain } from "../operate/send-again.ts";
import { accepted, claimAll, claimRow, message, recordOne, take } from "../testing/act.ts";
import { waitsForLock } from "../testing/race.ts";
import { passDays, retainAll, retention, startRound, whereRowsAre } from "../testing/retention.ts";
import { empty, everyShape, newRow, readRows, reshape, type Shape } from "../testing/rows.ts";
import { retain } from "./retain.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  await empty(database);
  await database.sql`TRUNCATE owed.notification_archive`;
  await startRound(database);
});
afterAll(() => database.drop());

const moves: Shape[] = ["delivered", "cancelled", "dead", "lost"];

test("what was over long ago goes to the archive, and nothing else", async () => {
  const ids = new Map<Shape, string>();
  for (const shape of everyShape) ids.set(shape, await newRow(database, shape));
  await passDays(database, 91);
  await startRound(database);
  expect((await retainAll(database)).moved).toBe(moves.length);
  const { archived } = await whereRowsAre(database);
  expect(archived).toEqual(moves.map((shape) => ids.get(shape)).toSorted());
});

describe("what stays", () => {
  test("what ended less than 90 days ago, however long ago it was owed", async () => {
    const id = await newRow(database, "pending");
    await passDays(database, 200);
    await reshape(database, id, "delivered");
    await startRound(database);
    expect((await retainAll(database)).moved).toBe(0);
    await passDays(database, 89);
    await startRound(database);
    expect((await retainAll(database)).moved).toBe(0);
    await passDays(database, 2);
    await startRound(database);
    expect((await retainAll(database)).moved).toBe(1);
  });

  test("what is dead and has no deadline: a person may still want it", async () => {
    const id = await newRow(database, "dead", { send_by: "NULL" });
    await passDays(database, 500);
    await startRound(database);
    expect((await retainAll(database)).moved).toBe(0);
    expect((await whereRowsAre(database)).here).toEqual([id]);
  });

  test("a shipment's older notifications, as long as one of them is not over", async () => {
    const shipment = await registerShipment(database, ["buyer", "agent"]);
    await happen(database, shipment, "delivery_exception");
    const [first, second] = await readRows(database, shipment);
    await reshape(database, first?.id ?? "", "delivered");
    await reshape(database, second?.id ?? "", "held");
    await passDays(database, 91);
    await startRound(database);
    expect((await retainAll(database)).moved).toBe(0);
    await reshape(database, second?.id ?? "", "delivered", { stopped_at: "NULL" });
    await passDays(database, 91);
    await startRound(database);
    expect((await retainAll(database)).moved).toBe(2);
  });

  test("all of it, where it is to be kept for ever", async () => {
    await newRow(database, "delivered");
    await passDays(database, 1000);
    await startRound(database);
    expect(await retain(database.ledger, { days: null, refusedDays: 30 }, 1000)).toMatchObject({
      moved: 0,
      more: false,
    });
  });
});

test("in steps, each shipment as a whole, and not again within the hour", async () => {
  for (let count = 0; count < 4; count += 1) {
    const shipment = await registerShipment(database, ["buyer", "agent", "merchant"]);
    await happen(database, shipment, "delivery_exception");
    for (const { id } of await readRows(database, shipment)) await reshape(database, id, "delivered");
  }
  await passDays(database, 91);
  await startRound(database);
  const step = () => retain(database.ledger, retention, 5);
  expect(await step()).toMatchObject({ moved: 6, more: true });
  expect(await step()).toMatchObject({ moved: 6, more: true });
  expect(await step()).toMatchObject({ moved: 0, more: false });
  await newRow(database, "delivered", { delivered_at: "now() - interval '91 days'" });
  expect(await step()).toEqual({ moved: 0, refused: 0, more: false });
});

test("what was left behind is looked at again in the next round, a week later, and not before", async () => {
  const id = await newRow(database, "held");
  await passDays(database, 91);
  await database.sql`UPDATE owed.retention SET next_at = now(), round_since = now()`;
  await newRow(database, "delivered");
  await retainAll(database);
  await reshape(database, id, "delivered", {
    stopped_at: "NULL",
    delivered_at: "now() - interval '91 days'",
  });
  await database.sql`UPDATE owed.retention SET next_at = now()`;
  expect((await retainAll(database)).moved).toBe(0);
  await passDays(database, 7);
  await retainAll(database);
  await database.sql`UPDATE owed.retention SET next_at = now()`;
  expect((await retainAll(database)).moved).toBe(1);
});

test("an archived notification does not come back: not by its event, its message, an operator, or a newer status", async () => {
  const shipment = await registerShipment(database);
  const occurredAt = new Date(Date.now() - 60_000).toISOString();
  const event = { id: "E-1", shipmentId: shipment, status: "out_for_delivery", occurredAt };
  await recordEvents(database.ledger, [event]);
  const [row] = await readRows(database, shipment);
  const id = row?.id ?? "";
  const { token } = await claimRow(database, id);
  await recordOne(database, id, token, accepted);
  await passDays(database, 91);
  await startRound(database);
  expect((await retainAll(database)).moved).toBe(1);
  const [moved] = await audit(database.ledger, { shipmentId: shipment });
  const again = { ...event, occurredAt: moved?.occurredAt.toISOString() ?? "" };
  expect(await recordEvents(database.ledger, [again])).toMatchObject([{ outcome: "repeated" }]);
  expect(await claimAll(database, message(id))).toEqual(["gone"]);
  await expect(sendAgain(database.ledger, id, { actor: "ana", why: "again" })).rejects.toThrow(id);
  await happen(database, shipment, "picked_up", 100 * 86_400);
  await happen(database, shipment, "delivered");
  expect(
    (await audit(database.ledger, { shipmentId: shipment })).map(({ status, state, reason }) => [
      status,
      state,
      reason,
    ]),
  ).toEqual([
    ["picked_up", "cancelled", "superseded"],
    ["out_for_delivery", "delivered", null],
    ["delivered", "pending", null],
  ]);
  expect(await show(database.ledger, id)).toMatchObject({ id, state: "delivered", providerMessageId: "P-1" });
});

test("while sweeps, workers and other steps are at work, nothing is lost, and nobody waits", async () => {
  const old = await owe(database, 60);
  await database.sql`
    UPDATE owed.notification SET state = 'delivered', delivered_at = now(), evidence = 'reply', owed_at = NULL`;
  await passDays(database, 91);
  await startRound(database);
  await owe(database, 40);
  const work = async () => {
    const { leased } = await take(database, { most: 20 });
    for (const { id } of leased) {
      const { token } = await claimRow(database, id);
      expect(await recordOne(database, id, token, accepted)).toBe(true);
    }
  };
  const moved = await Promise.all([retainAll(database, 7), retainAll(database, 7), work(), work()]);
  expect(moved.slice(0, 2).reduce((sum, step) => sum + (step?.moved ?? 0), 0)).toBeGreaterThan(0);
  await startRound(database);
  await retainAll(database, 7);
  const { here, archived } = await whereRowsAre(database);
  expect([here.length, archived.length, new Set([...here, ...archived]).size]).toEqual([40, old.length, 100]);
});

test("a row that somebody holds keeps its shipment here until the next round", async () => {
  const id = await newRow(database, "delivered");
  await passDays(database, 91);
  await startRound(database);
  await database.sql.begin(async (holder) => {
    await holder`SELECT FROM owed.notification WHERE id = ${id} FOR UPDATE`;
    expect((await retainAll(database)).moved).toBe(0);
  });
  await startRound(database);
  expect((await retainAll(database)).moved).toBe(1);
});

test("killed in the middle, nothing has happened; then it is done", async () => {
  const id = await newRow(database, "delivered");
  await passDays(database, 91);
  await startRound(database);
  await database.sql
    .begin(async (holder) => {
      await holder`LOCK TABLE owed.notification_archive IN EXCLUSIVE MODE`;
      const step = retain(database.ledger, retention, 10);
      await waitsForLock(database.sql);
      await database.sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      // Tried again by the ledger's client, which waits for the same lock until this transaction ends.
      await waitsForLock(database.sql);
      expect(await whereRowsAre(database)).toEqual({ here: [id], archived: [] });
      step.catch(() => {});
      return { step };
    })
    .then(({ step }) => step);
  expect(await whereRowsAre(database)).toEqual({ here: [], archived: [id] });
});

test("refused events, runs and claim marks go when nobody asks for them any more", async () => {
  const { sql, ledger } = database;
  const keep = (messageId: string) =>
    keepRefusedEvent(ledger, { messageId, queue: "event", field: "id", reason: "is missing", body: "{}" });
  await sql`DELETE FROM owed.refused_event`;
  await keep("old");
  await sql`INSERT INTO owed.claim_mark VALUES (now(), now())`;
  await sql`INSERT INTO owed.sweep_run (started_at) VALUES (now() - interval '380 days'), (now())`;
  await passDays(database, 31);
  await keep("new");
  await sql`INSERT INTO owed.claim_mark VALUES (now() - interval '14 days', now())`;
  await startRound(database);
  expect(await retainAll(database)).toEqual({ moved: 0, refused: 1, more: false });
  expect(await sql`SELECT message_id FROM owed.refused_event`).toEqual([{ message_id: "new" }]);
  expect(await sql`SELECT count(*)::int AS marks FROM owed.claim_mark`).toEqual([{ marks: 1 }]);
  expect(await sql`SELECT count(*)::int AS runs FROM owed.sweep_run`).toEqual([{ runs: 1 }]);
});

test("the archive has the notifications' columns, in their order", async () => {
  const columns = (table: string) => database.sql`
    SELECT attname AS name, atttypid::regtype::text AS type, attnotnull AS required FROM pg_attribute
    WHERE attrelid = ${`owed.${table}`}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;
  expect(await columns("notification_archive")).toEqual([...(await columns("notification"))]);
});
