import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, deliverAs, idsOf, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

const accepted = { kind: "accepted", provider: "ses", providerMessageId: "0100-a" } as const;
const refusedOutcome = { kind: "refused", reason: "InvalidAddress: address has a space" } as const;

test("audit: a sentence for each recipient and event first, then the rows, addresses masked", async () => {
  const shipment = await registerShipment(world.db, ["buyer", "agent"]);
  const event = await happen(world.db, shipment, "delivery_exception");
  const [buyer = "", agent = ""] = await idsOf(world, shipment);
  await deliverAs(world, buyer, accepted);
  await deliverAs(world, agent, refusedOutcome);
  const { code, out } = await world.owed("audit", "--shipment", shipment);
  expect(code).toBe(0);
  const all = out.trimEnd().split("\n");
  const [first = "", second = "", blank, head, ...rows] = all.filter(
    (line) => !line.startsWith("Nothing by "),
  );
  expect(all).toContain(
    "Nothing by webhook to the merchant about delivery_exception: no merchant is subscribed by webhook.",
  );
  expect(first).toMatch(
    new RegExp(
      `^Yes, buyer-1 was notified of delivery_exception \\(event ${event}\\): the email was accepted by ses at \\S+Z, as its message 0100-a, as its reply says`,
    ),
  );
  expect(second).toMatch(
    /^No, agent-1 was not notified .* after 1 try \(InvalidAddress: address has a space\)\.$/,
  );
  expect([blank, head?.split(/\s{2,}/).at(-1), rows.length]).toEqual(["", "notification", 2]);
  expect(out).toContain("b***@example.com");
  expect(out).not.toContain("buyer@example.com");
  expect((await world.owed("audit", "--shipment", shipment, "--full")).out).toContain("buyer@example.com");
  const { value } = await world.json("audit", "--shipment", shipment, "--recipient", "buyer-1");
  expect(value.answers).toEqual([
    {
      answer: "yes",
      sentence: first,
      recipientId: "buyer-1",
      eventId: event,
      status: "delivery_exception",
      occurredAt: expect.stringMatching(/Z$/),
      notifications: [buyer],
    },
  ]);
  expect(JSON.stringify(value)).not.toContain("buyer@example.com");
});

test("audit: on whose word a notification counts as sent", async () => {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up");
  const [id = ""] = await idsOf(world, shipment);
  await deliverAs(world, id, refusedOutcome);
  await world.owed("resolve", id, "--sent", "--why", "the buyer\u202e called", "--actor", "ana");
  const { out } = await world.owed("audit", "--shipment", shipment);
  expect(out).toMatch(/^Yes, .* on the word of ana, who says "the buyer\\u\{202e\} called"\.$/m);
});

test("audit: a misspelt name is not found, instead of not notified", async () => {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up");
  const unknown = await world.owed("audit", "--shipment", shipment, "--recipient", "byer-1");
  expect([unknown.code, unknown.out]).toEqual([3, ""]);
  expect(unknown.err).toContain("it has for buyer-1");
  const { code, value } = await world.json("audit", "--shipment", "nowhere");
  expect([code, value]).toEqual([
    3,
    { error: { kind: "not_found", message: expect.stringContaining("knows no shipment nowhere") } },
  ]);
});

test("audit: a shipment without events, and one whose event told nobody", async () => {
  const shipment = await registerShipment(world.db, []);
  await world.db.sql`SELECT owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'sms', '+12025550143', 'Ann')`;
  expect(await world.owed("audit", "--shipment", shipment)).toEqual({
    ...{ code: 0, err: "" },
    out: `The ledger has no event of shipment ${shipment}: nobody was to be told anything yet.\n`,
  });
  await happen(world.db, shipment, "picked_up");
  const { code, out } = await world.owed("audit", "--shipment", shipment, "--recipient", "buyer-1");
  expect([code, out.split("\n")]).toEqual([
    0,
    [
      `The ledger has no notification for buyer-1 of shipment ${shipment}.`,
      "Nothing by email to the buyer about picked_up: buyer-1 is not subscribed by email.",
      "Nothing by sms to the buyer about picked_up: no rule tells the buyer of it by sms.",
      "",
    ],
  ]);
});

test("audit and show: what waits and is no longer to be sent, by what and since when", async () => {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up");
  const [id = ""] = await idsOf(world, shipment);
  await world.db.sql`SELECT owed.opt_out(${shipment}, 'buyer-1', 'email')`;
  const [row] = await world.db.sql`SELECT state FROM owed.notification WHERE id = ${id}`;
  expect(row).toEqual({ state: "pending" });
  const { value } = await world.json("audit", "--shipment", shipment);
  expect(value.answers).toMatchObject([
    {
      answer: "no",
      sentence: expect.stringMatching(
        /: the email will not be sent, since the recipient opted out at \d{4}-\S+Z\.$/,
      ),
    },
  ]);
  const { out } = await world.owed("show", id);
  expect(out).toMatch(/^\d{4}-\S+Z {2}the recipient opted out$/m);
  expect(out).toMatch(/^now: pending; it will not be sent, since its recipient has opted out; /m);
  expect((await world.json("show", id)).value.moot).toEqual({ reason: "opted_out", by: "recipient" });
});

test("audit: the newer status that made an older one untrue, and when that was told", async () => {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up", 60);
  await world.db
    .sql`UPDATE owed.notification SET owed_at = now() + interval '1 hour' WHERE id = ANY (${await idsOf(world, shipment)})`;
  const newer = await happen(world.db, shipment, "out_for_delivery");
  const [, id = ""] = await idsOf(world, shipment);
  await deliverAs(world, id, accepted);
  const { out } = await world.owed("audit", "--shipment", shipment);
  expect(out).toMatch(
    new RegExp(
      `^No, buyer-1 .* since the shipment was out_for_delivery by \\S+Z \\(event ${newer}\\), which was told by email at \\S+Z\\.$`,
      "m",
    ),
  );
});

test("audit: what the old sender has claimed, by who sends for the merchant now", async () => {
  const shipment = `S-${randomUUID()}`;
  await world.db.sql`INSERT INTO owed.merchant (id, name, mode) VALUES ('shop-moved', 'Shop', 'shadow')`;
  await world.db.sql`SELECT owed.register_shipment(${shipment}, 'shop-moved', 'Shop', 'T-1')`;
  await world.db
    .sql`SELECT owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'email', 'ann@example.com', 'Ann')`;
  const event = await happen(world.db, shipment, "picked_up");
  await world.db.sql`SELECT owed.old_claim('shop-moved', ${event}, 'buyer-1', 'email', 'picked_up')`;
  const said = async () => (await world.owed("audit", "--shipment", shipment)).out.split("\n")[0];
  const claimed = "the old sender\\S*.*, which claimed it at \\S+Z and has not said that it sent it";
  expect(await said()).toMatch(new RegExp(`is for ${claimed}, while Owed is watched beside it, and was due`));
  await world.owed(
    "cutover",
    "--merchant",
    "shop-moved",
    "--to",
    "owed",
    "--past",
    "send",
    "--why",
    "a test",
  );
  expect(await said()).toMatch(
    new RegExp(`is left to ${claimed}, although Owed sends for the merchant now, and was due`),
  );
});

test("audit: the tries that failed while it waits, and the last reason", async () => {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up");
  const [id = ""] = await idsOf(world, shipment);
  await deliverAs(world, id, { kind: "transient", reason: "ENOTFOUND: the request was not written" });
  expect((await world.owed("audit", "--shipment", shipment)).out).toMatch(
    /^Not yet, .*, and 1 try failed, the last at \S+Z \(ENOTFOUND: the request was not written\)\.$/m,
  );
});
