import { listActs, recordLimits } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, idsOf, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await recordLimits(world.db.ledger, "email", { rate: null, quota: null, used: 0 }, 900);
  await world.owed("open", "email", "--why", "the end of the test");
});
afterAll(() => world.end());

/** Channels of which email is so. */
const withEmail = (channel: object) =>
  expect.arrayContaining([expect.objectContaining({ name: "email", ...channel })]);
const rfc3339 = expect.stringMatching(/^\d{4}-\S+Z$/);

async function oweOne(): Promise<{ shipment: string; id: string }> {
  const shipment = await registerShipment(world.db);
  await happen(world.db, shipment, "delivered");
  const [id = ""] = await idsOf(world, shipment);
  return { shipment, id };
}

test("a channel's limits give the time to drain, and its quota closes it, visibly", async () => {
  await oweOne();
  await oweOne();
  await recordLimits(world.db.ledger, "email", { rate: 0.5, quota: 200, used: 40 }, 900);
  const { value } = await world.json("status");
  expect(value).toMatchObject({
    timeToDrain: 4,
    channels: withEmail({
      ...{ due: 2, inQueue: 0, rate: 0.5, quota: 200, used: 40, closed: null, timeToDrain: 4 },
    }),
  });
  const { out } = await world.owed("status");
  expect(out).toMatch(/^time to drain +4 s$/m);
  expect(out).toMatch(/^email +open +2 +0 +0\.5\/s +40 of 200 +4 s$/m);
  await world.owed("pause");
  expect((await world.owed("status")).out).toMatch(/^time to drain +4 s, once the sweeps run again$/m);
  await world.owed("resume");

  await recordLimits(world.db.ledger, "email", { rate: 0.5, quota: 200, used: 200 }, 900);
  const full = await world.json("status");
  expect(full.value.channels).toEqual(
    withEmail({
      closed: {
        for: "quota",
        why: "200 of 200 messages were sent in 24 hours",
        since: rfc3339,
        until: rfc3339,
      },
    }),
  );
  expect(full.value.timeToDrain).toBeGreaterThan(800);
  expect((await world.owed("status")).out).toMatch(
    /^email is closed since \S+Z until \S+Z: its quota of 24 hours is used up \(200 of 200 messages were sent in 24 hours\)$/m,
  );
});

test("close and open: nothing is published in between, and who and why are seen", async () => {
  const { shipment, id } = await oweOne();
  const { code, value } = await world.json("close", "email", "--why", "wrong template", "--actor", "ana");
  const closed = { channel: "email", closed: true, changed: true, actor: "ana", why: "wrong template" };
  expect([code, value]).toEqual([0, closed]);
  const twice = await world.json("close", "email", "--why", "me too", "--actor", "bea");
  expect(twice.value, "the first one's words stay").toMatchObject({ closed: true, changed: false });
  const status = await world.json("status");
  expect(status.value).toMatchObject({
    timeToDrain: null,
    channels: withEmail({
      closed: { for: "operator", why: "ana: wrong template", since: rfc3339, until: null },
      timeToDrain: null,
    }),
  });
  const { out } = await world.owed("status");
  expect(out).toMatch(/^time to drain +not known: a channel is closed until somebody opens it$/m);
  expect(out).toMatch(
    /^email is closed since \S+Z until somebody opens it \(owed open email\): somebody closed it \(ana: wrong template\)$/m,
  );
  expect((await world.json("sweep")).value).toMatchObject({ published: 0 });
  const told = /its channel is closed since \S+Z until somebody opens it/;
  expect((await world.owed("audit", "--shipment", shipment)).out).toMatch(told);
  expect((await world.owed("show", id)).out).toMatch(told);

  const opened = await world.json("open", "email", "--why", "corrected", "--actor", "bea");
  expect([opened.code, opened.value]).toEqual([
    0,
    {
      ...{ channel: "email", changed: true, actor: "bea", why: "corrected" },
      before: { for: "operator", why: "ana: wrong template", since: rfc3339, until: null },
    },
  ]);
  expect(await listActs(world.db.ledger, 1)).toMatchObject([
    { actor: "bea", did: "opened", subject: "email", why: "corrected" },
  ]);
  const again = await world.owed("open", "email", "--why", "x");
  expect([again.code, again.out]).toEqual([0, "The channel email was open: its failures are forgotten.\n"]);
  const { published } = (await world.json("sweep")).value;
  expect(published).toBeGreaterThan(0);
});

test("open says in words why it was closed, and by whom it is opened", async () => {
  await world.owed("close", "email", "--why", "x", "--actor", "ana");
  const { out } = await world.owed("open", "email", "--why", "corrected", "--actor", "bea");
  expect(out).toMatch(
    /^The channel email is open: the next sweep publishes what it may \(bea: corrected\)\.\nIt was closed since \S+Z: somebody closed it \(ana: x\)\.\n$/,
  );
});

test.each(["close", "open"])("%s: a channel that there is not is refused", async (command) => {
  const { code, value } = await world.json(command, "pigeon", "--why", "x");
  expect([code, value]).toMatchObject([3, { error: { kind: "not_allowed" } }]);
  expect(JSON.stringify(value)).toContain("there is no channel pigeon");
});
