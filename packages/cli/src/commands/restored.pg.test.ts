import { afterAll, beforeAll, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, deliverAs, idsOf, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

test("restored: what has been due is unknown, who says so stands in its history, the rest stays", async () => {
  const [due, told] = [await registerShipment(world.db), await registerShipment(world.db)];
  await happen(world.db, told, "picked_up");
  const [delivered = ""] = await idsOf(world, told);
  await deliverAs(world, delivered, { kind: "accepted", provider: "ses", providerMessageId: "P-1" });
  await happen(world.db, due, "picked_up");
  const [id = ""] = await idsOf(world, due);

  expect((await world.owed("restored")).code, "nobody says why").toBe(2);
  const { value } = await world.json("--actor", "ann", "restored", "--why", "the disk died");
  expect(value).toEqual({ unknown: 1, actor: "ann", why: "the disk died" });
  expect((await world.owed("restored", "--why", "again")).out).toMatch(
    /^0 notifications may have been sent.*were not paused/s,
  );
  await world.owed("pause");
  expect((await world.owed("restored", "--why", "again")).out).not.toContain("paused");

  const { out } = await world.owed("show", id);
  expect(out).toContain("unknown");
  expect(out).toContain("ann");
  expect(out).toContain("the disk died");
  expect((await world.json("show", delivered)).value).toMatchObject({ state: "delivered" });
});
