import { afterAll, beforeAll, expect, test } from "vitest";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

const place = ["--status", "customs_hold", "--role", "warehouse", "--channel", "sms"];
const set = (...more: string[]) => world.json("rules", "set", ...place, "--actor", "ann", ...more);
const listed = async (...more: string[]) => {
  const { value } = await world.json("rules", "list", "--status", "customs_hold", ...more);
  const rules: unknown = value.rules;
  if (!Array.isArray(rules)) throw new Error("no rules are listed");
  return rules.filter(({ role }) => role === "warehouse");
};

test("a rule is set, changed, seen with its history, and retired", async () => {
  expect((await set("--delay", "2h", "--at", "09:00", "--why", "they begin at nine")).code).toBe(0);
  const first = { version: 1, delay: 7200, atTime: "09:00", sendWithin: 604_800, setBy: "ann" };
  expect(await listed()).toMatchObject([
    { ...first, newestReplaces: true, onUnknown: "resend", silent: false },
  ]);

  const trial = await set("--at", "none", "--dry-run", "--why", "a look");
  expect(trial.value).toMatchObject({ id: null, rule: { delay: 7200, atTime: null } });
  expect(await listed()).toHaveLength(1);

  await set("--at", "none", "--only-while-current", "--on-unknown", "hold", "--why", "they work at night");
  expect(await listed()).toMatchObject([{ version: 2, delay: 7200, atTime: null, onlyWhileCurrent: true }]);
  const again = await world.owed("rules", "set", ...place, "--why", "nothing new");
  expect(again.out).toMatch(/^Unchanged: every merchant, customs_hold: warehouse by sms/);
  expect(await listed("--history")).toMatchObject([
    { version: 2, active: true, retiredAt: null },
    { ...first, active: false, retiredBy: "ann", retiredWhy: "they work at night" },
  ]);
  expect((await world.owed("rules", "list", "--history")).out).toContain("by ann: they begin at nine");

  const [{ id }] = await listed();
  expect((await world.owed("rules", "retire", id, "--why", "enough")).out).toBe(`Rule ${id} is retired.\n`);
  expect(await listed()).toEqual([]);
  expect(await world.owed("rules", "retire", id, "--why", "enough")).toMatchObject({
    code: 3,
    err: `owed: rule ${id} does not exist, or is retired already\n`,
  });
});

test.each([
  [["--channel", "fax"], "channel is not a known channel"],
  [["--merchant", "nobody"], "merchant_id is not a known merchant"],
  [["--delay", "2h", "--send-within", "1h"], "send_within must be more than the delay"],
  [
    ["--at", "09:00", "--send-within", "20h"],
    "send_within must be more than the delay, and with a time of day 26",
  ],
])("a rule that can't be is refused, and nothing is changed: %j", async (argv, message) => {
  const before = await world.json("rules", "list", "--history");
  const named = ["--status", "delivered", "--role", "agent", "--channel", "email", "--template", "delivered"];
  const { code, err } = await world.owed("rules", "set", ...named, ...argv, "--why", "a test");
  expect([code, err]).toEqual([3, expect.stringContaining(message)]);
  const dry = await world.owed("rules", "set", ...named, ...argv, "--why", "a test", "--dry-run");
  expect(dry, "a dry run refuses it as well").toMatchObject({ code, err });
  expect(await world.json("rules", "list", "--history")).toEqual(before);
});

test("a text that does not exist is wrong usage", async () => {
  const { code, err } = await set("--template", "birthday", "--why", "a test").then(() =>
    world.owed("rules", "set", ...place, "--template", "birthday", "--why", "a test"),
  );
  expect([code, err]).toEqual([2, expect.stringContaining("there is no template birthday")]);
});

test("a check says what somebody should know, and fails on an error alone", async () => {
  const fine = await world.json("rules", "check");
  expect(fine).toMatchObject({ code: 0, value: { errors: 0, findings: [] } });
  await world.db.sql`INSERT INTO owed.merchant (id, name) VALUES ('own', 'Own')`;
  const own = [
    "rules",
    "set",
    "--merchant",
    "own",
    "--status",
    "customs_hold",
    "--role",
    "buyer",
    "--channel",
    "email",
  ];
  await world.owed(...own, "--send-within", "none", "--why", "a test");
  const warned = await world.owed("rules", "check");
  expect(warned.code).toBe(0);
  expect(warned.out).toContain("it is never too late");
  expect(warned.out).toContain("its own rules leave out customs_hold.still");
  await world.db.sql`INSERT INTO owed.status VALUES ('weighed')`;
  await world.db.sql`
    INSERT INTO owed.rule (status, role, channel, template, delay_s, newest_replaces)
    VALUES ('customs_hold', 'agent', 'sms', 'no_such', 86400, false)`;
  const wrong = await world.owed("rules", "check");
  expect(wrong.code).toBe(1);
  expect(wrong.out).toContain("error: default: customs_hold agent sms no_such: there is no such template");
  expect(wrong.out).toContain("although the shipment may have moved on");
  expect(wrong.out).toContain("warning: the status weighed tells nobody");
});

test("a dry run shows whom an event would tell, and why somebody would not be", async () => {
  const shipment = await registerShipment(world.db, ["buyer", "agent"]);
  await world.db.sql`SELECT owed.opt_out(${shipment}, 'agent-1', 'email')`;
  const tried = await world.owed("rules", "try", "--shipment", shipment, "--status", "customs_hold");
  expect(tried.code).toBe(0);
  expect(tried.out).toMatch(/buyer-1 .*customs_hold .*UTC/);
  expect(tried.out).toMatch(/agent-1 .*not sent: its recipient has opted out/);
  expect(await world.db.sql`SELECT FROM owed.event`).toEqual([]);
  const nobody = await world.owed("rules", "try", "--shipment", shipment, "--status", "weighed");
  expect(nobody.out).toBe("Nobody would be told.\n");
  const unknown = await world.owed("rules", "try", "--shipment", "S-0", "--status", "delivered");
  expect([unknown.code, unknown.err]).toEqual([3, expect.stringContaining("there is no shipment S-0")]);
  const status = await world.owed("rules", "try", "--shipment", shipment, "--status", "gone");
  expect([status.code, status.err]).toEqual([
    2,
    expect.stringContaining("there is no status gone; there are"),
  ]);
});

test("a merchant's own rule begins as the default one is, and says which it stands in place of", async () => {
  await world.db.sql`INSERT INTO owed.merchant (id, name) VALUES ('shop-9', 'Shop 9')`;
  const set = [
    "rules",
    "set",
    "--merchant",
    "shop-9",
    "--status",
    "customs_hold",
    "--role",
    "agent",
    "--channel",
    "email",
  ];
  const { value } = await world.json(...set, "--delay", "5m", "--why", "a test", "--dry-run");
  expect(value).toMatchObject({ id: null, before: null, rule: { delay: 300, sendWithin: 604_800 } });
  expect(value.inPlaceOf).toHaveLength(2);
  const { out } = await world.owed(...set, "--delay", "5m", "--why", "a test");
  expect(out).toMatch(/^Set: shop-9, customs_hold: agent by email/);
  expect(out).toContain("customs_hold.still, after 1 d");
  expect((await world.json(...set, "--delay", "6m", "--why", "a test")).value).toMatchObject({
    inPlaceOf: [],
  });
});

test("a status that does not exist is wrong usage, with those that there are", async () => {
  const { code, err } = await set("--status", "customs_hld", "--why", "a test").then(() =>
    world.owed("rules", "set", ...place, "--status", "customs_hld", "--why", "a test"),
  );
  expect([code, err]).toEqual([
    2,
    expect.stringContaining("there is no status customs_hld; there are customs_hold,"),
  ]);
});
