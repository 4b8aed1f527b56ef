import { randomUUID } from "node:crypto";
import { type Rule, setRule, type Trial, tryRules } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { passTime } from "../support/time.ts";

// What the rules say is what people get: each feature of a rule from the event to the provider.

let cloud: Cloud;
beforeAll(async () => {
  // When what is told is each rule's, and a beat says when.
  cloud = await startCloud({ settings: { ingest: { atOnce: false } } });
});
beforeEach(() => void cloud.run("ingest"));
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

const act = { actor: "ann", why: "a test" };
const hour = 3600;
const day = 24 * hour;

/** A merchant with these rules alone for a buyer's emails, unless they say otherwise. */
async function merchantWith(...rules: Partial<Rule>[]): Promise<string> {
  const merchantId = `M-${randomUUID().slice(0, 8)}`;
  await cloud.sql`INSERT INTO owed.merchant (id, name) VALUES (${merchantId}, 'Shop')`;
  for (const rule of rules) await set(merchantId, rule);
  return merchantId;
}

function set(merchantId: string, { status = "picked_up", ...rule }: Partial<Rule>): Promise<string> {
  return setRule(
    cloud.ledger,
    {
      ...{ merchantId, status, role: "buyer", channel: "email", template: status, delay: 0, atTime: null },
      ...{
        sendWithin: null,
        onlyWhileCurrent: false,
        newestReplaces: true,
        onUnknown: "resend",
        silent: false,
      },
      ...rule,
    },
    act,
  );
}

type Person = { role?: string; channel?: string; address?: string; timeZone?: string | null };

async function shipmentOf(merchantId: string, ...people: Person[]): Promise<string> {
  const id = `S-${randomUUID()}`;
  await cloud.sql`SELECT owed.register_shipment(${id}, ${merchantId}, 'Shop', 'T-1')`;
  for (const { role = "buyer", channel = "email", address = "buyer@example.com", timeZone = null } of people)
    await cloud.sql`SELECT owed.subscribe(${id}, ${`${role}-1`}, ${role}, ${channel}, ${address}, 'Ann', 'en', ${timeZone})`;
  return id;
}

/** An event by way of the bus, the event queue and ingest. */
async function happen(
  shipmentId: string,
  status: string,
  occurredAt = new Date().toISOString(),
): Promise<string> {
  const id = `E-${randomUUID()}`;
  await cloud.bus.put({
    source: "platform",
    "detail-type": "shipment.status_changed",
    detail: { id, shipment_id: shipmentId, status, occurred_at: occurredAt },
  });
  await eventually(async () =>
    expect(await cloud.sql`SELECT FROM owed.event WHERE id = ${id}`).toHaveLength(1),
  );
  return id;
}

type Told = {
  status: string;
  state: string;
  reason: string | null;
  cancelled_by: string | null;
  due_at: Date;
};

const told = (shipmentId: string) => cloud.sql<Told[]>`
  SELECT e.status, n.state, n.reason, n.cancelled_by, n.due_at FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
  WHERE e.shipment_id = ${shipmentId} ORDER BY e.occurred_at, n.id`;

/** A beat, and what comes of it. */
async function beat(): Promise<void> {
  await cloud.sweep();
  await eventually(async () => {
    const [open] =
      await cloud.sql`SELECT count(*)::int AS rows FROM owed.notification WHERE state IN ('leased', 'queued', 'sending')`;
    expect(open?.rows).toBe(0);
  });
}

const subjects = () => cloud.ses.sent.map(({ subject }) => subject);

test("a status tells a role by each of its channels", async () => {
  cloud.run("deliver");
  const merchant = await merchantWith(
    { status: "out_for_delivery" },
    { status: "out_for_delivery", channel: "sms" },
    { status: "out_for_delivery", role: "merchant", channel: "webhook" },
  );
  const shipment = await shipmentOf(
    merchant,
    {},
    { channel: "sms", address: "+491512345678" },
    { role: "merchant", channel: "webhook", address: cloud.webhooks.addressOf(merchant) },
    { role: "agent", address: "agent@example.com" },
  );
  await happen(shipment, "out_for_delivery");
  await beat();
  expect(cloud.ses.sent.map(({ to }) => to)).toEqual([['"Ann" <buyer@example.com>']]);
  expect(cloud.sms.sent).toMatchObject([{ to: "+491512345678", text: expect.stringContaining("T-1") }]);
  expect(cloud.webhooks.received).toMatchObject([
    {
      merchant,
      verified: true,
      payload: { type: "shipment.out_for_delivery", data: { shipment_id: shipment } },
    },
  ]);
  expect((await told(shipment)).map(({ state }) => state)).toEqual(["delivered", "delivered", "delivered"]);
});

test("a follow-up is sent after its delay, and only while the shipment is still in that status", async () => {
  cloud.run("deliver");
  const merchant = await merchantWith({
    ...{ status: "customs_hold", template: "customs_hold.still", delay: day, onlyWhileCurrent: true },
  });
  const [held, moved] = [await shipmentOf(merchant, {}), await shipmentOf(merchant, {})];
  await happen(held, "customs_hold");
  await happen(moved, "customs_hold");
  await passTime(cloud.sql, day - 60);
  await beat();
  expect(subjects(), "a minute before").toEqual([]);
  // Which tells the buyer nothing.
  const event = await happen(moved, "returned");
  await passTime(cloud.sql, 120);
  await beat();
  expect(subjects()).toEqual([expect.stringContaining("still held at customs")]);
  expect(await told(held)).toMatchObject([{ state: "delivered" }]);
  expect(await told(moved)).toMatchObject([
    { state: "cancelled", reason: "superseded", cancelled_by: `event ${event}` },
  ]);
});

test.each([
  // Vienna's clocks go from 2 to 3 on 2026-03-29, and from 3 to 2 on 2026-10-25.
  ["in winter", "2026-03-27T20:00:00+01:00", "09:00", "2026-03-28T08:00:00Z"],
  [
    "over the night in which the clocks go forward",
    "2026-03-28T20:00:00+01:00",
    "09:00",
    "2026-03-29T07:00:00Z",
  ],
  [
    "in the hour that is skipped: as much later",
    "2026-03-28T20:00:00+01:00",
    "02:30",
    "2026-03-29T01:30:00Z",
  ],
  ["over the night in which they go back", "2026-10-24T20:00:00+02:00", "09:00", "2026-10-25T08:00:00Z"],
  ["in the hour that comes twice: the second", "2026-10-24T20:00:00+02:00", "02:30", "2026-10-25T01:30:00Z"],
  ["the same morning, when it occurred before", "2026-03-29T05:00:00+02:00", "09:00", "2026-03-29T07:00:00Z"],
])("at a time of day where the recipient is: %s", async (_, occurredAt, atTime, due) => {
  cloud.run("deliver");
  const shipment = await shipmentOf(await merchantWith({ atTime }), { timeZone: "Europe/Vienna" });
  await happen(shipment, "picked_up", occurredAt);
  expect((await told(shipment)).map(({ due_at }) => due_at)).toEqual([new Date(due)]);
  await beat();
  expect(cloud.ses.sent).toHaveLength(1);
});

test("not before that time of day has come", async () => {
  cloud.run("deliver");
  const zones = ["Asia/Kolkata", "America/New_York", null];
  const merchant = await merchantWith({ atTime: "09:00" });
  const shipments = await Promise.all(zones.map((timeZone) => shipmentOf(merchant, { timeZone })));
  for (const shipment of shipments) await happen(shipment, "picked_up");
  await cloud.sql`UPDATE owed.notification SET due_at = due_at + interval '1 day', owed_at = owed_at + interval '1 day'`;
  await beat();
  expect(cloud.ses.sent).toHaveLength(0);
  await passTime(cloud.sql, 2 * day);
  await beat();
  expect(cloud.ses.sent).toHaveLength(3);
});

test("what could not be sent by its deadline is not sent", async () => {
  const shipment = await shipmentOf(await merchantWith({ sendWithin: 2 * hour }), {});
  await happen(shipment, "picked_up");
  await cloud.sweep();
  await passTime(cloud.sql, 2 * hour + 1);
  cloud.run("deliver");
  await beat();
  await passTime(cloud.sql, hour);
  await beat();
  expect(cloud.ses.sent).toHaveLength(0);
  expect(await told(shipment)).toMatchObject([
    { state: "cancelled", reason: "expired", cancelled_by: "deadline" },
  ]);
});

test("a backlog of updates for one recipient becomes the newest; where each is wanted, each is sent", async () => {
  cloud.run("deliver");
  const updates = ["picked_up", "customs_hold", "customs_released", "out_for_delivery", "delivered"];
  const newest = await merchantWith(...updates.map((status) => ({ status })));
  const each = await merchantWith(...updates.map((status) => ({ status, newestReplaces: false })));
  const shipments = [await shipmentOf(newest, {}), await shipmentOf(each, {})];
  const last = new Map<string, string>();
  for (const status of updates)
    for (const shipment of shipments) last.set(shipment, await happen(shipment, status));
  await beat();
  const [one = "", all = ""] = shipments;
  const rows = await told(one);
  expect(rows.map(({ state }) => state)).toEqual([...Array(4).fill("cancelled"), "delivered"]);
  expect(rows.slice(0, 4).every(({ reason }) => reason === "superseded")).toBe(true);
  expect(rows[3]?.cancelled_by).toBe(`event ${last.get(one)}`);
  expect((await told(all)).map(({ state }) => state)).toEqual(Array(5).fill("delivered"));
  expect(cloud.ses.sent).toHaveLength(6);
});

test("an unknown outcome is resent, or held for a person, as the rule says", async () => {
  cloud.ses.faults.add(() => ({ drop: "after", holdEvent: new Promise(() => {}) }));
  cloud.run("deliver");
  const resent = await shipmentOf(await merchantWith({ onUnknown: "resend" }), {});
  const held = await shipmentOf(await merchantWith({ onUnknown: "hold" }), {});
  await happen(resent, "picked_up");
  await happen(held, "picked_up");
  await beat();
  expect([...(await told(resent)), ...(await told(held))]).toMatchObject([
    { state: "unknown" },
    { state: "unknown" },
  ]);
  cloud.ses.faults.clear();
  await passTime(cloud.sql, hour);
  await beat();
  expect(await told(resent)).toMatchObject([{ state: "delivered" }]);
  expect(await told(held)).toMatchObject([{ state: "unknown" }]);
});

test("a change is a new version: what is owed keeps the one it came from, and the next event has the new one", async () => {
  cloud.run("deliver");
  const merchant = await merchantWith({ delay: hour });
  const [before, after] = [await shipmentOf(merchant, {}), await shipmentOf(merchant, {})];
  await happen(before, "picked_up");
  await set(merchant, { delay: 3 * hour });
  await happen(after, "picked_up");
  await passTime(cloud.sql, hour + 60);
  await beat();
  expect([...(await told(before)), ...(await told(after))]).toMatchObject([
    { state: "delivered" },
    { state: "pending" },
  ]);
  const versions = await cloud.sql`
    SELECT e.shipment_id AS shipment, r.version, r.set_by FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
      JOIN owed.rule r ON r.id = n.rule_id ORDER BY r.version`;
  expect(versions).toEqual([
    { shipment: before, version: 1, set_by: "ann" },
    { shipment: after, version: 2, set_by: "ann" },
  ]);
});

test("a merchant's silent rule tells nobody, where the default ones would", async () => {
  const silent = await shipmentOf(await merchantWith({ silent: true }), {});
  const usual = await shipmentOf(await merchantWith(), {});
  await happen(silent, "picked_up");
  await happen(usual, "picked_up");
  expect(await told(silent)).toEqual([]);
  expect(await told(usual)).toMatchObject([{ state: "pending" }]);
});

test("a dry run tells whom the event then tells, what and when", async () => {
  const merchant = await merchantWith(
    { atTime: "09:00" },
    { template: "delivered", delay: 2 * hour, sendWithin: day },
  );
  const shipment = await shipmentOf(merchant, { timeZone: "America/New_York" });
  await cloud.sql`SELECT owed.subscribe(${shipment}, 'buyer-2', 'buyer', 'email', NULL)`;
  await cloud.sql`SELECT owed.subscribe(${shipment}, 'buyer-3', 'buyer', 'email', 'c@example.com')`;
  await cloud.sql`SELECT owed.opt_out(${shipment}, 'buyer-3', 'email')`;
  const trial: Trial = { shipmentId: shipment, status: "picked_up", occurredAt: "2026-03-08T01:00:00-05:00" };
  const would = await tryRules(cloud.ledger, trial);
  expect(await told(shipment)).toEqual([]);
  await happen(shipment, trial.status, trial.occurredAt);
  const did = await cloud.sql`
    SELECT s.recipient_id AS "recipientId", n.channel, r.template, n.due_at AS "dueAt", n.send_by AS "sendBy",
      CASE n.state WHEN 'cancelled' THEN n.reason END AS moot, n.state <> 'dead' AS addressed
    FROM owed.notification n JOIN owed.subscriber s ON s.id = n.subscriber_id JOIN owed.rule r ON r.id = n.rule_id
    ORDER BY n.due_at, n.id`;
  expect(would).toMatchObject(did.map((row) => ({ ...row })));
  expect(would).toHaveLength(6);
  // The night in which New York's clocks go forward.
  expect(
    would?.find(({ recipientId, template }) => recipientId === "buyer-1" && template === "picked_up"),
  ).toMatchObject({
    dueAt: new Date("2026-03-08T13:00:00Z"),
    dueThere: "2026-03-08 09:00",
  });
});

test("who answers a text with STOP gets no more of them, for any shipment, until START", async () => {
  cloud.run("deliver");
  cloud.run("feedback");
  const merchant = await merchantWith({ channel: "sms" });
  const text = { channel: "sms", address: "+49 1512 345678" };
  const shipments = await Promise.all(Array.from({ length: 4 }, () => shipmentOf(merchant, text)));
  const [first = "", waiting = "", later = "", again = ""] = shipments;
  await happen(first, "picked_up");
  await beat();
  expect(cloud.sms.sent).toHaveLength(1);
  await happen(waiting, "picked_up");
  await cloud.sms.receive("+491512345678", "Stop");
  const suppressed = (count: number) =>
    eventually(async () =>
      expect(await cloud.sql`SELECT FROM owed.suppression WHERE lifted_at IS NULL`).toHaveLength(count),
    );
  await suppressed(1);
  await happen(later, "picked_up");
  await beat();
  expect(cloud.sms.sent).toHaveLength(1);
  const ended = {
    state: "cancelled",
    reason: "opted_out",
    cancelled_by: expect.stringMatching(/^suppression \d+$/),
  };
  expect([...(await told(waiting)), ...(await told(later))]).toMatchObject([ended, ended]);

  cloud.sms.optedOut.clear();
  await cloud.sms.receive("+491512345678", "START");
  await suppressed(0);
  await happen(again, "picked_up");
  await beat();
  expect(cloud.sms.sent).toHaveLength(2);
});
