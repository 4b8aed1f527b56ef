import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, deliverAs, idsOf, type World } from "../testing.ts";

let world: World;
let shipment: string;
/** Both are dead; the first is no longer true. */
let late: string;
let wanted: string;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

beforeEach(async () => {
  shipment = await registerShipment(world.db, ["buyer", "merchant"]);
  await happen(world.db, shipment, "delivery_exception");
  [late = "", wanted = ""] = await idsOf(world, shipment);
  for (const id of [late, wanted])
    await deliverAs(world, id, { kind: "exhausted", reason: "ServiceUnavailable: try later" });
  await world.db.sql`UPDATE owed.notification SET send_by = now() - interval '1 minute' WHERE id = ${late}`;
});

const stateOf = async (id: string) => {
  const [row] = await world.db.sql`SELECT state, generation FROM owed.notification WHERE id = ${id}`;
  return { ...row };
};

test("redrive: what is no longer true is left, is said to be, and is told before", async () => {
  const expired = [{ reason: "expired", count: 1 }];
  const refused = [{ id: late, why: "it has expired" }];
  const preview = await world.json("redrive", late, wanted, "--dry-run");
  expect([preview.code, preview.value]).toMatchObject([
    3,
    { count: 1, ids: [wanted], moot: expired, refused },
  ]);
  expect((await world.json("redrive", "--dry-run")).value).toMatchObject({
    ids: [late, wanted],
    moot: expired,
  });
  const told = await world.owed("redrive", "--shipment", shipment, "--dry-run");
  expect(told.out).toContain("\n1 notification would be left, as no longer true:\n  1 × it has expired\n");

  const { code, value } = await world.json("redrive", "--shipment", shipment, "--why", "x");
  expect([code, value]).toMatchObject([3, { redriven: [wanted], refused }]);
  expect(await stateOf(late)).toEqual({ state: "dead", generation: 0 });
  const alone = await world.owed("redrive", late, "--why", "x");
  expect([alone.code, alone.out]).toEqual([3, expect.stringContaining(`\nnot ${late}: it has expired\n`)]);
  await world.owed("cancel", late, "--why", "too late");
});

test("redrive: those that are left come first each time, and the limit must reach past them", async () => {
  const { out } = await world.owed("redrive", "--shipment", shipment, "--limit", "1", "--why", "x");
  expect(out).toMatch(/^0 notifications owed again.*\nnot .*\nMore fit: raise --limit, or cancel those/);
  expect((await stateOf(wanted)).state).toBe("dead");
});

test.each([["replay"], ["resolve", "--resend"]])(
  "%s: it stays dead, and what can be done is said",
  async (name, ...flags) => {
    const { code, err } = await world.owed(name, late, ...flags, "--why", "x");
    expect([code, err]).toEqual([
      3,
      `owed: notification ${late} is left as it is, since it has expired; it is too late for it: cancel it; if it must go out all the same, record a new event (owed cancel ${late} --why …)\n`,
    ]);
    expect(await stateOf(late)).toEqual({ state: "dead", generation: 0 });
  },
);

test("dead: which are no longer true, and what to do about them", async () => {
  const { value } = await world.json("dead", "--shipment", shipment);
  expect(value.stopped).toMatchObject([
    { id: late, moot: "expired", advice: expect.stringContaining("too late") },
    { id: wanted, moot: null, advice: expect.stringContaining("redrive") },
  ]);
  const { out } = await world.owed("dead", "--shipment", shipment);
  expect(out).toContain("ServiceUnavailable: try later; it has expired\n");
  expect(out).toContain("\n  ServiceUnavailable, and expired: it is too late for it: cancel it");
});
