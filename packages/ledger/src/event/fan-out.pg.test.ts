import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import type { Rule } from "../rule/rule.ts";
import { setRule } from "../rule/set-rule.ts";
import { empty, rewriteRules } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

type Told = {
  recipient: string;
  template: string;
  state: string;
  reason: string | null;
  due: number;
  late: number | null;
  owed: boolean;
};

/** Who is told what about an event, in the order of the ids; due and too late in hours after it occurred. */
const told = (event: string) => database.sql<Told[]>`
  SELECT s.recipient_id AS recipient, r.template, n.state, n.reason, n.owed_at = n.due_at AS owed,
    round(extract(epoch FROM n.due_at - e.occurred_at) / 3600)::int AS due,
    round(extract(epoch FROM n.send_by - e.occurred_at) / 3600)::int AS late
  FROM owed.notification n JOIN owed.event e ON e.key = n.event_key JOIN owed.subscriber s ON s.id = n.subscriber_id
    JOIN owed.rule r ON r.id = n.rule_id
  WHERE e.id = ${event} ORDER BY n.id`;
const briefly = async (event: string) =>
  (await told(event)).map(({ recipient, template, state, reason }) =>
    [recipient, template, reason ?? state].join(" "),
  );

describe("an event is fanned out", () => {
  test("to everyone who watches the shipment and whom a rule tells, at once or later", async () => {
    const shipment = await registerShipment(database, ["buyer", "merchant", "agent", "warehouse"]);
    const pending = { state: "pending", reason: null, owed: true };
    expect(await told(await happen(database, shipment, "customs_hold"))).toEqual([
      { recipient: "buyer-1", template: "customs_hold", due: 0, late: 7 * 24, ...pending },
      { recipient: "buyer-1", template: "customs_hold.still", due: 24, late: 7 * 24, ...pending },
      { recipient: "merchant-1", template: "customs_hold", due: 0, late: 7 * 24, ...pending },
      { recipient: "agent-1", template: "customs_hold", due: 0, late: 7 * 24, ...pending },
      { recipient: "agent-1", template: "customs_hold.still", due: 24, late: 7 * 24, ...pending },
    ]);
  });

  test("to nobody when nobody watches, or no rule tells them: the event is kept", async () => {
    for (const roles of [[], ["warehouse"]]) {
      const event = await happen(database, await registerShipment(database, roles), "picked_up");
      expect(await told(event)).toEqual([]);
      expect(await database.sql`SELECT status FROM owed.event WHERE id = ${event}`).toEqual([
        { status: "picked_up" },
      ]);
    }
  });

  test("with ids that are the event's key plus an ordinal", async () => {
    const shipment = await registerShipment(database, ["buyer", "merchant", "agent"]);
    await happen(database, shipment, "delivery_exception");
    const rows = await database.sql<
      { id: string; key: string }[]
    >`SELECT id::text, event_key::text AS key FROM owed.notification ORDER BY id`;
    const key = rows[0]?.key ?? "";
    expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{8}0000$/);
    expect(rows.map(({ id }) => id)).toEqual(
      ["0001", "0002", "0003"].map((ordinal) => key.slice(0, 32) + ordinal),
    );
    const [{ age } = { age: null }] = await database.sql`
      SELECT extract(epoch FROM clock_timestamp()) - ('x' || left(replace(${key}, '-', ''), 12))::bit(48)::bigint / 1000.0 AS age`;
    expect(Number(age)).toBeCloseTo(0, -1);
  });

  test("with keys that ascend, by time and within a millisecond too (RFC 9562)", async () => {
    const before = Date.now();
    const keys = await database.sql.begin((sql) =>
      Promise.all(
        Array.from({ length: 500 }, async () => {
          const [row] = await sql<{ key: string }[]>`SELECT owed.new_event_key() AS key`;
          return row?.key ?? "";
        }),
      ),
    );
    const after = Date.now();
    expect(keys.toSorted()).toEqual(keys);
    const made = keys.map((key) => Number.parseInt(key.replace("-", "").slice(0, 12), 16));
    expect(new Set(made).size).toBeLessThan(keys.length);
    expect(Math.min(...made)).toBeGreaterThanOrEqual(before);
    expect(Math.max(...made)).toBeLessThanOrEqual(after);
    for (const key of keys)
      expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{8}0000$/);
  });

  test("to fifty subscribers in one statement", async () => {
    const { sql } = database;
    const shipment = await registerShipment(database, []);
    await sql`SELECT owed.subscribe(${shipment}, 'agent-' || n, 'agent', 'email', 'a' || n || '@example.com') FROM generate_series(1, 50) n`;
    await sql`CREATE TABLE inserts (statement int)`;
    await sql`CREATE FUNCTION count_insert() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.inserts VALUES (1); RETURN NULL; END'`;
    await sql`CREATE TRIGGER count_insert AFTER INSERT ON owed.notification EXECUTE FUNCTION count_insert()`;
    await happen(database, shipment, "delivery_exception");
    await sql`DROP FUNCTION count_insert CASCADE`;
    const [rows] =
      await sql`SELECT count(*)::int, count(DISTINCT subscriber_id)::int AS subscribers, max(right(id::text, 4)) AS last FROM owed.notification`;
    expect(rows).toEqual({ count: 50, subscribers: 50, last: "0032" });
    expect(await sql`SELECT count(*)::int FROM inserts`).toEqual([{ count: 1 }]);
  });
});

describe("a merchant's own rules", () => {
  const own: Omit<Rule, "id" | "merchantId"> = {
    status: "customs_hold",
    role: "buyer",
    channel: "email",
    template: "own_hold",
    delay: 3600,
    atTime: null,
    sendWithin: 7200,
    onlyWhileCurrent: false,
    newestReplaces: true,
    onUnknown: "resend",
    silent: false,
  };
  async function ofMerchant(rule: Partial<Rule> = {}): Promise<string> {
    const shipment = await registerShipment(database, ["buyer", "merchant"]);
    const merchantId = `M-${randomUUID()}`;
    await database.sql`INSERT INTO owed.merchant VALUES (${merchantId}, 'Own')`;
    await database.sql`UPDATE owed.shipment SET merchant_id = ${merchantId} WHERE id = ${shipment}`;
    await setRule(database.ledger, { ...own, merchantId, ...rule }, { actor: "ann", why: "a test" });
    return shipment;
  }

  test("stand in place of all the default ones for their status, role and channel, and of no others", async () => {
    const event = await happen(database, await ofMerchant(), "customs_hold");
    expect(await briefly(event)).toEqual(["buyer-1 own_hold pending", "merchant-1 customs_hold pending"]);
    expect((await told(event))[0]).toMatchObject({ due: 1, late: 2 });
  });

  test("of another status, role or merchant change nothing", async () => {
    await ofMerchant();
    for (const rule of [{ status: "delivered" }, { role: "agent" as const }]) {
      const event = await happen(database, await ofMerchant(rule), "customs_hold");
      expect(await briefly(event)).toEqual([
        "buyer-1 customs_hold pending",
        "buyer-1 customs_hold.still pending",
        "merchant-1 customs_hold pending",
      ]);
    }
  });

  test("that are no longer active give way to the default ones", async () => {
    const shipment = await ofMerchant();
    await rewriteRules(
      database,
      "active = false, retired_at = now()",
      `merchant_id = (SELECT merchant_id FROM owed.shipment WHERE id = '${shipment}')`,
    );
    expect(await briefly(await happen(database, shipment, "customs_hold"))).toContain(
      "buyer-1 customs_hold pending",
    );
  });
});

describe("nothing owed is dropped silently", () => {
  test("who opted out gets a row that is cancelled", async () => {
    const shipment = await registerShipment(database, ["buyer", "merchant"]);
    const optOut = () => database.sql`SELECT owed.opt_out(${shipment}, 'buyer-1', 'email') AS done`;
    expect([await optOut(), await optOut()]).toEqual([[{ done: true }], [{ done: false }]]);
    expect(await briefly(await happen(database, shipment, "delivered"))).toEqual([
      "buyer-1 delivered opted_out",
      "merchant-1 delivered pending",
    ]);
  });

  test("who was erased gets a row that is cancelled, be it that it had opted out, until it subscribes anew", async () => {
    const shipment = await registerShipment(database);
    await database.sql`UPDATE owed.subscriber SET erased_at = now(), address = NULL, name = NULL WHERE shipment_id = ${shipment}`;
    expect(await briefly(await happen(database, shipment, "delivered"))).toEqual([
      "buyer-1 delivered erased",
    ]);
    await database.sql`SELECT owed.opt_out(${shipment}, 'buyer-1', 'email')`;
    await happen(database, shipment, "delivered");
    expect(await database.sql`SELECT DISTINCT reason, cancelled_by FROM owed.notification`).toEqual([
      { reason: "erased", cancelled_by: "recipient" },
    ]);
    await database.sql`SELECT owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'email', 'a@example.com')`;
    expect(await briefly(await happen(database, shipment, "delivered"))).toEqual([
      "buyer-1 delivered opted_out",
    ]);
  });

  test("who has no address gets a row that waits for a person", async () => {
    const shipment = await registerShipment(database);
    await database.sql`SELECT owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'email', NULL)`;
    await happen(database, shipment, "delivered");
    expect(
      await database.sql`SELECT state, reason, owed_at, stopped_at = died_at AS stopped FROM owed.notification`,
    ).toEqual([{ state: "dead", reason: "no_address", owed_at: null, stopped: true }]);
  });

  test("who opted out and has no address is not a person's work", async () => {
    const shipment = await registerShipment(database);
    await database.sql`SELECT owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'email', NULL), owed.opt_out(${shipment}, 'buyer-1', 'email')`;
    expect(await briefly(await happen(database, shipment, "delivered"))).toEqual([
      "buyer-1 delivered opted_out",
    ]);
  });
});

describe("out of order", () => {
  const current = async (shipment: string) =>
    (await database.sql`SELECT status FROM owed.shipment WHERE id = ${shipment}`)[0]?.status;

  test("an older event that comes late is recorded, tells nobody what is no longer true, and the status stays", async () => {
    const shipment = await registerShipment(database);
    await happen(database, shipment, "out_for_delivery", 60);
    const late = await happen(database, shipment, "customs_hold", 3600);
    expect(await briefly(late)).toEqual([
      "buyer-1 customs_hold superseded",
      "buyer-1 customs_hold.still superseded",
    ]);
    expect(await current(shipment)).toBe("out_for_delivery");
  });

  test("it still tells where the rule does not let the newest replace the older", async () => {
    const shipment = await registerShipment(database, ["merchant"]);
    await happen(database, shipment, "delivered", 60);
    await rewriteRules(database, "newest_replaces = false", "status = 'customs_hold' AND role = 'merchant'");
    const late = await happen(database, shipment, "customs_hold", 3600);
    await rewriteRules(database, "newest_replaces = true");
    expect(await briefly(late)).toEqual(["merchant-1 customs_hold pending"]);
  });

  test("a newer event cancels what is not sent yet of the older one, and is named there", async () => {
    const shipment = await registerShipment(database);
    const first = await happen(database, shipment, "picked_up", 60);
    const second = await happen(database, shipment, "out_for_delivery");
    expect(await briefly(first)).toEqual(["buyer-1 picked_up superseded"]);
    expect(await database.sql`SELECT cancelled_by FROM owed.notification WHERE state = 'cancelled'`).toEqual([
      { cancelled_by: `event ${second}` },
    ]);
    expect(await current(shipment)).toBe("out_for_delivery");
  });

  test.each([
    ["a", "b", "b"],
    ["b", "a", "b"],
  ])("of two events of one time the greater id is current: %s, then %s", async (first, second, greater) => {
    const shipment = await registerShipment(database);
    const statuses: Record<string, string> = { a: "picked_up", b: "out_for_delivery" };
    const prefix = randomUUID();
    const at = new Date(Date.now() - 60_000).toISOString();
    for (const name of [first, second])
      await database.sql`SELECT owed.record_event(${`${prefix}-${name}`}, ${shipment}, ${statuses[name] ?? ""}, ${at})`;
    expect(await current(shipment)).toBe(statuses[greater]);
    expect(
      await database.sql`
        SELECT e.id, n.state, n.cancelled_by FROM owed.notification n JOIN owed.event e ON e.key = n.event_key ORDER BY e.id`,
    ).toEqual([
      { id: `${prefix}-a`, state: "cancelled", cancelled_by: `event ${prefix}-b` },
      { id: `${prefix}-b`, state: "pending", cancelled_by: null },
    ]);
  });
});
