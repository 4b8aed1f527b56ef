import { recordEvidence } from "@owed/ledger";
import { afterAll, beforeAll, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, deliverAs, idsOf, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

/** The buyer's email bounces for good; the shipment's next notification is suppressed. */
async function bounce(): Promise<{ shipment: string; id: string }> {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up", 60);
  const [id = ""] = await idsOf(world, shipment);
  await deliverAs(world, id, { kind: "accepted", provider: "ses", providerMessageId: `0100-${id}` });
  const at = new Date().toISOString();
  await recordEvidence(world.db.ledger, [
    {
      ...{
        id,
        at,
        provider: "ses",
        providerMessageId: `0100-${id}`,
        outcome: "bounced",
        evidence: "feedback",
      },
      ...{ detail: "Permanent: General", suppress: true, queuedAt: null },
    },
  ]);
  await happen(world.db, shipment, "delivered");
  return { shipment, id };
}

const address = "Buyer@Example.com";

test("suppressed, seen everywhere, and lifted", async () => {
  expect((await world.owed("suppressed")).out).toBe("No address is suppressed.\n");
  const { shipment, id } = await bounce();
  const row = {
    ...{ channel: "email", cause: "bounced", detail: "Permanent: General", notificationId: id, lifted: null },
    suppressedAt: expect.stringMatching(/Z$/),
  };
  const { code, value } = await world.json("suppressed");
  expect([code, value]).toEqual([
    0,
    { suppressions: [{ ...row, address: "b***@example.com" }], more: false },
  ]);
  expect((await world.json("suppressed", "--address", address, "--full")).value).toEqual({
    suppressions: [{ ...row, address: "buyer@example.com" }],
    more: false,
  });
  expect((await world.owed("suppressed", "--address", "other@example.com")).out).toBe(
    "This address is not suppressed.\n",
  );
  const listed = await world.owed("suppressed");
  expect(listed.out).toMatch(
    new RegExp(`^\\S+Z {2}email +b\\*{3}@example\\.com {2}bounced {2}Permanent: General +${id} {2}-$`, "m"),
  );
  const audit = await world.owed("audit", "--shipment", shipment);
  expect(audit.out).toMatch(
    /^No, buyer-1 was not notified of picked_up .* and it bounced \(Permanent: General\)\.$/m,
  );
  expect(audit.out).toMatch(
    /^No, buyer-1 was not notified of delivered .* its address was suppressed at \S+Z, after /m,
  );
  expect((await world.owed("show", id)).out).toContain("outcome bounced (Permanent: General)\n");

  const lift = ["lift", address, "--channel", "email", "--why", "she called"];
  const lifted = await world.json(...lift, "--actor", "ana");
  expect([lifted.code, lifted.value]).toEqual([
    0,
    {
      ...{ channel: "email", address: "B***@Example.com", lifted: true, actor: "ana", why: "she called" },
      note: expect.stringContaining("SES keeps an account-level suppression list of its own"),
    },
  ]);
  const again = await world.owed(...lift);
  expect([again.code, again.err]).toEqual([3, "owed: the address is not suppressed on the channel email\n"]);
  expect((await world.owed("suppressed")).out).toBe("No address is suppressed.\n");
  expect((await world.owed("suppressed", "--lifted")).out).toMatch(/ {2}\S+Z by ana: she called$/m);
});

test("a dead one whose address is suppressed stays dead, and says where to lift it", async () => {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up");
  const [dead = ""] = await idsOf(world, shipment);
  await deliverAs(world, dead, { kind: "exhausted", reason: "ServiceUnavailable: try later" });
  await bounce();
  const { value } = await world.json("dead", "--shipment", shipment);
  expect(value.stopped).toMatchObject([
    { id: dead, moot: "suppressed", advice: expect.stringContaining("owed suppressed") },
  ]);
  const redrive = ["redrive", dead, "--why", "x"];
  expect((await world.json(...redrive)).value).toMatchObject({
    redriven: [],
    refused: [{ id: dead, why: "its address is suppressed" }],
  });
  await world.owed("lift", address, "--channel", "email", "--why", "she called");
  expect((await world.json(...redrive)).value).toMatchObject({ redriven: [dead], refused: [] });
});
