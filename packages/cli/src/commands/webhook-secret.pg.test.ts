import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorld, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.db.sql`INSERT INTO owed.merchant (id, name) VALUES ('shop-7', 'Shop 7'), ('shop-8', 'Shop 8')`;
});
afterAll(() => world.end());

test("a merchant's secret is derived from the stage's key, the same each time and another for each", async () => {
  const secret = async (merchant: string) =>
    (await world.json("webhook-secret", "--merchant", merchant)).value.secret;
  expect(await secret("shop-7")).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(await secret("shop-7")).toBe(await secret("shop-7"));
  expect(await secret("shop-8")).not.toBe(await secret("shop-7"));
});

test("a merchant that the ledger does not know has none", async () => {
  const { code, out, err } = await world.owed("webhook-secret", "--merchant", "shop-77");
  expect([code, out]).toEqual([3, ""]);
  expect(err).toContain("the ledger knows no merchant shop-77");
});
