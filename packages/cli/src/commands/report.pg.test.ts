import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { happen, owe, registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, deliverAs, idsOf, type World } from "../testing.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(() => world.db.sql`TRUNCATE owed.sweep_run, owed.notification, owed.attempt`);
afterAll(() => world.end());

const beat = (from: number, to: number) => world.db.sql`
  INSERT INTO owed.sweep_run (started_at, finished_at)
  SELECT at, at FROM generate_series(now() - make_interval(mins => ${from}), now() - make_interval(mins => ${to}), interval '1 minute') AS at`;

/** Five that fell due an hour ago: two were sent, one is dead, one is superseded, one is still owed. */
async function fiveInAnOutage(): Promise<void> {
  await beat(200, 100);
  await beat(20, 0);
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const shipment = await registerShipment(world.db);
    await happen(world.db, shipment, "picked_up");
    ids.push(...(await idsOf(world, shipment)));
  }
  const [one = "", two = "", three = "", four = ""] = ids;
  for (const id of [one, two])
    await deliverAs(world, id, { kind: "accepted", provider: "ses", providerMessageId: `P-${id}` });
  await deliverAs(world, three, { kind: "refused", reason: "InvalidAddress: it has a space" });
  await world.db.sql`
    UPDATE owed.notification SET state = 'cancelled', cancelled_at = now(), reason = 'superseded', owed_at = NULL WHERE id = ${four}`;
  await world.db.sql`UPDATE owed.notification SET due_at = now() - interval '1 hour'`;
}

test("a page that people read, with the proof in a sentence", async () => {
  await fiveInAnOutage();
  const { code, out } = await world.owed("report");
  expect(code).toBe(0);
  expect(out).toMatch(/^1 outage in the last 7 days: no sweep for more than 3 min$/m);
  expect(out).toMatch(/^Outage of 1 h 20 min: \S+Z to \S+Z$/m);
  expect(out).toMatch(/^ +all +email$/m);
  expect(out).toMatch(/^fell due, or waited +5 +5$/m);
  expect(out).toMatch(/^sent +2 +2$/m);
  expect(out).toMatch(/^ +late: p50 +1 h +1 h$/m);
  expect(out).toMatch(/^dead: 1 for InvalidAddress$/m);
  expect(out).toMatch(/^the last of them was sent at \S+Z, 20 min(?: \d s)? after the outage had ended$/m);
  expect(out).toMatch(
    /^1 notification of that time is still owed: 5 due = 2 sent \+ 1 superseded \+ 1 dead \+ 1 still owed\.$/m,
  );
  expect(out).toMatch(/^Sweeps run again, and it is not drained yet: ask again after the next ones\.$/m);
  expect(out).toMatch(/^channel +state +still owed\nemail +pending +1\ntheir ids: --full$/m);
  const full = (await world.owed("report", "--full")).out;
  expect(full).toMatch(/^\S+Z +email +pending +- +[0-9a-f-]{36}$/m);
  expect(full).not.toContain("--full");
});

test("straight after 'resume' the outage is not over, and the next sweep ends it", async () => {
  await fiveInAnOutage();
  await world.db.sql`DELETE FROM owed.sweep_run WHERE started_at > now() - interval '90 minutes'`;
  await world.owed("pause", "--why", "maintenance", "--actor", "ana");
  expect((await world.owed("report")).out).toMatch(/^Outage for 1 h 40 min, and it goes on: since \S+Z$/m);
  await world.owed("resume");
  const { out } = await world.owed("report");
  expect(out).toMatch(/^Outage for 1 h 40 min: since \S+Z; resumed, and no sweep has worked since$/m);
  expect(out).toMatch(/^The next sweep begins to drain it: ask again after it\.$/m);
  await world.db.sql`TRUNCATE owed.pause`;
});

test("of more than a hundred the number is exact, and the oldest are listed by id", async () => {
  await beat(200, 100);
  await beat(20, 0);
  await owe(world.db, 103, "picked_up");
  await world.db.sql`UPDATE owed.notification SET due_at = now() - interval '1 hour'`;
  expect((await world.owed("report")).out).toMatch(
    /^channel +still owed\nemail +103\ntheir ids, the oldest 100: --full$/m,
  );
  expect((await world.owed("report", "--full")).out).toMatch(/^… and 3 more$/m);
});

test("the same as JSON, with the way it went", async () => {
  await fiveInAnOutage();
  await world.db
    .sql`UPDATE owed.notification SET state = 'cancelled', cancelled_at = now(), reason = 'expired', owed_at = NULL WHERE state = 'pending'`;
  const { code, value } = await world.json("report", "--gap", "5m", "--merchant", "M-1");
  expect(code).toBe(0);
  expect(value).toMatchObject({
    ...{ since: null, until: null, gap: 300, merchant: "M-1", addsUp: true, nothingOwed: true, more: false },
    outages: [
      {
        proof:
          "Nothing that fell due in it, or waited when it began, is still owed: 5 due = 2 sent + 1 expired + 1 superseded + 1 dead.",
        all: { due: 5, sent: 2 },
        series: {
          step: 60,
          points: expect.arrayContaining([expect.objectContaining({ due: 5, owed: 5, sent: 0 })]),
        },
      },
    ],
  });
  expect((await world.json("report", "--gap", "2h")).value).toMatchObject({ outages: [] });
});

test("a sum that does not add up is said, and fails", async () => {
  await fiveInAnOutage();
  await world.db.sql`UPDATE owed.notification SET reason = 'because' WHERE state = 'cancelled'`;
  const { code, out } = await world.owed("report");
  expect(code).toBe(1);
  expect(out).toMatch(/^This does not add up: 5 due = 2 sent \+ 1 dead \+ 1 still owed\./m);
});
