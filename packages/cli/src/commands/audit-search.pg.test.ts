import { afterAll, beforeAll, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, deliverAs, idsOf, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

/** A shipment of one recipient's own, who was told by email. */
async function told(recipient: string, message: string): Promise<{ shipment: string; id: string }> {
  const shipment = await registerShipment(world.db, []);
  await world.db
    .sql`SELECT owed.subscribe(${shipment}, ${recipient}, 'buyer', 'email', ${`${recipient}@example.com`}, 'Ann')`;
  await happen(world.db, shipment, "picked_up");
  const [id = ""] = await idsOf(world, shipment);
  await deliverAs(world, id, { kind: "accepted", provider: "ses", providerMessageId: message });
  return { shipment, id };
}

test("audit: a recipient, an address or a message that means one shipment is answered at once", async () => {
  const { shipment, id } = await told("ann", "0100-ann");
  const expected = (await world.json("audit", "--shipment", shipment, "--recipient", "ann")).value;
  expect(expected).toMatchObject({ shipmentId: shipment, notifications: [{ id }] });
  for (const [option, value] of [
    ["--recipient", "ann"],
    ["--address", " Ann@Example.com "],
    ["--message", "0100-ann"],
  ] as const)
    expect(await world.json("audit", option, value), option).toEqual({ code: 0, value: expected });
});

test("audit: several shipments are listed, and every recipient of a single one is answered for", async () => {
  const first = await told("bob", "0100-b1");
  const second = await told("bob", "0100-b2");
  const { code, value } = await world.json("audit", "--address", "bob@example.com");
  expect([code, value.more], JSON.stringify(value)).toEqual([0, false]);
  expect((value.matches as { shipmentId: string }[]).map(({ shipmentId }) => shipmentId).toSorted()).toEqual(
    [first.shipment, second.shipment].toSorted(),
  );
  const { out } = await world.owed("audit", "--recipient", "bob");
  expect(out).toMatch(/^Several shipments fit; ask of one of them with --shipment, and --recipient:$/m);
  for (const { shipment } of [first, second])
    expect(out).toMatch(new RegExp(`^${shipment} {2,}Shop {2,}bob {2,}buyer {2,}email {2,}1 {2,}\\S+Z`, "m"));
  const { out: one } = await world.owed("audit", "--message", "0100-b2");
  expect(one).toMatch(/^Yes, bob was notified of picked_up/);
  expect(one).toContain(second.id);
  expect(one).not.toContain(first.id);

  const shared = await registerShipment(world.db, []);
  for (const recipient of ["home", "office"])
    await world.db
      .sql`SELECT owed.subscribe(${shared}, ${recipient}, 'buyer', 'email', 'shared@example.com', 'Ann')`;
  await happen(world.db, shared, "picked_up");
  const { value: both } = await world.json("audit", "--address", "shared@example.com");
  expect(
    (both.answers as { recipientId: string }[]).map(({ recipientId }) => recipientId).toSorted(),
  ).toEqual(["home", "office"]);
});

test("audit: what means nobody is not found, and an address is not repeated", async () => {
  const nobody = async (...argv: string[]) => {
    const { code, out, err } = await world.owed("audit", ...argv);
    expect([code, out]).toEqual([3, ""]);
    return err;
  };
  expect(await nobody("--recipient", "carl")).toContain("the ledger has nothing for recipient carl");
  expect(await nobody("--message", "0100-z")).toContain("nothing for the provider's message 0100-z");
  expect(await nobody("--address", "carl@example.com")).toMatch(
    /^owed: the ledger has nothing for this address: /,
  );
});

test.each([
  [[]],
  [["--address", "a@example.com", "--message", "0100-a"]],
  [["--recipient", "ann", "--message", "0100-a"]],
  [["--shipment", "S-1", "--address", "a@example.com"]],
])("audit %j: does not say of whom", async (argv) => {
  const { code, err } = await world.owed("audit", ...argv);
  expect(code).toBe(2);
  expect(err).toContain("say of whom: --shipment, with --recipient");
});
