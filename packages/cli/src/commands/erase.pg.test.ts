import { afterAll, beforeAll, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, deliverAs, idsOf, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

test("erased: counted before, done once, and the audit still answers", async () => {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up");
  const [id = ""] = await idsOf(world, shipment);
  await deliverAs(world, id, { kind: "accepted", provider: "ses", providerMessageId: "P-1" });
  await happen(world.db, shipment, "customs_hold");
  const asked = ["erase", "--address", "Buyer@example.com", "--why", "request 4711", "--actor", "ana"];
  expect((await world.owed(...asked, "--dry-run")).out).toMatch(
    /^Would erase, and has not:\n {2}the address and name of 1 subscriber\n/,
  );
  const { code, value } = await world.json(...asked);
  expect([code, value]).toEqual([
    0,
    {
      ...{
        erasure: expect.any(String),
        dryRun: false,
        subscribers: 1,
        notifications: 1,
        cancelled: 2,
        suppressions: 0,
      },
      ...{ refusedEvents: 0, texts: 0, formerAddresses: 0, actor: "ana" },
    },
  ]);
  const { out } = await world.owed("audit", "--shipment", shipment, "--full");
  expect(out).toMatch(/^Yes, buyer-1 was notified of picked_up .* as its message P-1/m);
  expect(out).toMatch(
    /^No, buyer-1 was not notified of customs_hold .* since the recipient's data had been erased/m,
  );
  expect(out).not.toMatch(/buyer@example/i);
  expect(
    await world.owed("erase", "--shipment", shipment, "--recipient", "buyer-1", "--why", "request 4711"),
  ).toEqual({ code: 0, out: "Nothing of this person is kept.\n", err: "" });
});

test.each([
  [["--address", "nobody@example.com"], /^no subscriber has this address, and nothing mentions it$/],
  [
    ["--address", "nobody@example.com", "--channel", "sms"],
    /^no subscriber has this address on the channel sms, /,
  ],
  [["--shipment", "S-none", "--recipient", "b"], /^the ledger knows no recipient b of a shipment S-none; /],
])("whom nobody knows is not found: %j", async (whom, message) => {
  expect(await world.json("erase", ...whom, "--why", "w")).toMatchObject({
    code: 3,
    value: { error: { kind: "not_found", message: expect.stringMatching(message) } },
  });
});

test("what is no address, and nobody has, is refused", async () => {
  expect(await world.json("erase", "--address", "n/a", "--why", "w")).toMatchObject({
    code: 3,
    value: {
      error: { kind: "refused", message: expect.stringMatching(/^address must be an email address, /) },
    },
  });
});

test.each([
  [[]],
  [["--shipment", "S-1"]],
  [["--address", "a@example.com", "--recipient", "b"]],
  [["--shipment", "S-1", "--recipient", "b", "--channel", "email"]],
])("whom it is about must be clear: %j", async (whom) => {
  expect(await world.json("erase", ...whom, "--why", "w")).toMatchObject({
    code: 2,
    value: { error: { kind: "usage" } },
  });
});
