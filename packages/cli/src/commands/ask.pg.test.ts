import { keepRefusedEvent } from "@owed/ledger";
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

test("status: what is owed, how old, and who paused", async () => {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up");
  await world.owed("pause", "--why", "maintenance", "--actor", "ana");
  const { code, value } = await world.json("status");
  expect(code).toBe(0);
  expect(value).toMatchObject({
    owed: 1,
    timeToDrain: null,
    channels: expect.arrayContaining([
      expect.objectContaining({
        ...{ name: "email", due: 1, inQueue: 0, rate: null, quota: null, closed: null, timeToDrain: null },
      }),
    ]),
    lastSweepAt: null,
    stopped: 0,
    paused: { by: "ana", why: "maintenance", at: expect.stringMatching(/^\d{4}-.*Z$/) },
  });
  const { out } = await world.owed("status");
  expect(out).toMatch(/^owed now +1$/m);
  expect(out).toMatch(/^sweeps +paused by ana since \S+Z: maintenance \(owed resume\)$/m);
  await world.owed("resume");
  await world.owed("sweep");
  expect((await world.owed("status")).out).toMatch(/^last sweep +\d{4}-\S+Z$/m);
});

test("show: the history in order, and what it is now", async () => {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "picked_up");
  const [id = ""] = await idsOf(world, shipment);
  await deliverAs(world, id, refusedOutcome);
  await world.owed("replay", id, "--why", "corrected", "--actor", "ana");
  await deliverAs(world, id, accepted);
  const { code, out } = await world.owed("show", id.toUpperCase());
  expect(code).toBe(0);
  const told = out.split("\n").map((line) => line.replace(/^\S+Z {2}/, ""));
  expect(told).toEqual([
    `${id}  shipment ${shipment}`,
    expect.stringMatching(/^the shipment came into picked_up/),
    "recorded: owed to buyer-1 (buyer) by email, template picked_up",
    "refused for good: dead: InvalidAddress: address has a space",
    "replayed: owed again by ana: corrected",
    "a worker took it to send it to b***@example.com (the last time)",
    "delivered: ses accepted it as 0100-a, says its reply; outcome accepted",
    "now: delivered; nothing more happens to it",
    "2 attempts, 0 rescues, 0 resends, generation 1",
    "",
  ]);
  const { value } = await world.json("show", id, "--full");
  expect(value).toMatchObject({ id, state: "delivered", sentTo: "buyer@example.com" });
  expect(value.timeline).toHaveLength(6);
});

test("dead: what waits for a person, why, and what to do", async () => {
  const shipment = await registerShipment(world.db, ["buyer", "merchant", "agent"]);
  await happen(world.db, shipment, "delivery_exception");
  const [invalid = "", away = "", held = ""] = await idsOf(world, shipment);
  await deliverAs(world, invalid, refusedOutcome);
  await deliverAs(world, away, { kind: "exhausted", reason: "ECONNREFUSED: the request was not written" });
  await deliverAs(world, held, { kind: "unknown", reason: "ECONNRESET: no answer, the request was written" });
  await world.db.sql`UPDATE owed.notification SET owed_at = NULL, stopped_at = now() WHERE id = ${held}`;
  const of = ["--shipment", shipment];
  const { value } = await world.json("dead", ...of);
  expect(value).toMatchObject({
    more: false,
    stopped: [
      { id: invalid, state: "dead", advice: expect.stringContaining("correct the subscriber's address") },
      { id: away, state: "dead", advice: expect.stringContaining("could not be reached") },
      { id: held, state: "unknown", advice: expect.stringContaining("owed resolve") },
    ],
  });
  const ids = async (...argv: string[]) => {
    const { value: found } = await world.json("dead", ...of, ...argv);
    return [(found.stopped as { id: string }[]).map(({ id }) => id), found.more];
  };
  expect(await ids("--unknown")).toEqual([[held], false]);
  expect(await ids("--reason", "InvalidAddress")).toEqual([[invalid], false]);
  expect(await ids("--channel", "sms")).toEqual([[], false]);
  expect(await ids("--limit", "2")).toEqual([[invalid, away], true]);
  const { out } = await world.owed("dead", ...of);
  expect(out).toMatch(
    /^What to do:\n {2}InvalidAddress: correct .*\n {2}ECONNREFUSED: .*\n {2}unknown: look/m,
  );
});

test("refused: a hostile body is printed harmlessly", async () => {
  const body = `{"status":"\u001b[2J\u202e"}\n${"x".repeat(300)}`;
  await keepRefusedEvent(world.db.ledger, {
    messageId: "m-1",
    queue: "event",
    field: "status",
    reason: "must be a text",
    body,
  });
  const { out } = await world.owed("refused");
  expect(out).toMatch(
    /^\S+Z {2}\d+ {2}event {2}status must be a text {2}\(\d+ bytes\)\n {2}\{"status":"\\u\{1b\}\[2J\\u\{202e\}"\}\\nx+ …\n$/,
  );
  const { value } = await world.json("refused");
  expect(value.refused).toMatchObject([
    { id: expect.stringMatching(/^\d+$/), queue: "event", retriedAt: null, field: "status", body },
  ]);
});
