import { beginSweep, defaultDurations as durations, pause, resume } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { happen, owe, registerShipment } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { countStates, oweAndQueue } from "../testing/rows.ts";
import { countStatements } from "../testing/statements.ts";
import { publishedIds, type Sweeping, startSweeping } from "../testing/sweeps.ts";
import { until } from "../testing/until.ts";

let world: Sweeping;
beforeAll(async () => {
  world = await startSweeping();
});
beforeEach(() => world.reset());
afterAll(() => world.stop());

const heartbeat = async () => {
  const [beat] = await world.database.sql`SELECT holder, held_until FROM owed.heartbeat`;
  return beat;
};

describe("a beat is skipped", () => {
  test("while the sweeps are paused; then the next one drains", async () => {
    await owe(world.database, 1);
    await pause(world.database.ledger, "ana", null);
    expect(await world.run()).toEqual({ swept: false, why: "paused" });
    expect(await countStates(world.database)).toEqual({ pending: 1 });
    await resume(world.database.ledger);
    expect(await world.run()).toMatchObject({ swept: true, published: 1 });
  });

  test("while another one holds the heartbeat, and no longer than its function may live", async () => {
    await owe(world.database, 1);
    await beginSweep(world.database.ledger, durations);
    expect(await world.run()).toEqual({ swept: false, why: "held" });
    await passTime(world.database.sql, durations.heartbeat + 1);
    expect(await world.run()).toMatchObject({ swept: true, published: 1 });
  });

  test("of five at once, four", async () => {
    await owe(world.database, 12);
    const gate = Promise.withResolvers<void>();
    world.cloud.fail("SendMessageBatch", { hold: gate.promise });
    let skipped = 0;
    const beat = async () => {
      const summary = await world.run();
      // The first one ends only when the others have been here.
      if (!summary.swept && ++skipped === 4) gate.resolve();
      return summary;
    };
    const summaries = await Promise.all([beat(), beat(), beat(), beat(), beat()]);
    expect(summaries.filter(({ swept }) => swept)).toMatchObject([{ published: 12 }]);
    expect(summaries.filter(({ swept }) => !swept)).toEqual(Array(4).fill({ swept: false, why: "held" }));
  });
});

test("beside a sweep that is stuck for longer than its heartbeat, another one works: each row goes out once", async () => {
  await owe(world.database, 40);
  const calls = world.cloud.calls("SendMessageBatch");
  const gate = Promise.withResolvers<void>();
  const release = world.cloud.fail("SendMessageBatch", { hold: gate.promise });
  const stuck = world.swept({ sweep: { slice: 10 } });
  await until(async () => expect(await countStates(world.database)).toEqual({ pending: 20, leased: 20 }));
  release();
  await passTime(world.database.sql, durations.heartbeat + 1);
  expect(await world.swept({ sweep: { slice: 10 } })).toMatchObject({ published: 20 });
  gate.resolve();
  expect(await stuck).toMatchObject({ published: 20, fenced: 0 });
  expect(new Set(publishedIds(calls)).size).toBe(40);
  expect(publishedIds(calls)).toHaveLength(40);
  expect(await countStates(world.database)).toEqual({ queued: 40 });
});

describe("with nothing owed", () => {
  test("a beat is two statements, and the queue is not asked", async () => {
    await world.run();
    let called = 0;
    world.cloud.sqs.faults.add(() => {
      called += 1;
      return undefined;
    });
    expect(await countStatements(world.database, () => world.swept())).toBe(2);
    expect(called).toBe(0);
  });

  test("so it is with rows that wait for their time, and with rows that are on their way", async () => {
    const shipment = await registerShipment(world.database);
    await happen(world.database, shipment, "customs_hold");
    await oweAndQueue(world.database, 2);
    let called = 0;
    world.cloud.sqs.faults.add(() => {
      called += 1;
      return undefined;
    });
    expect(await countStatements(world.database, () => world.swept())).toBe(2);
    expect(called).toBe(0);
  });
});

describe("the heartbeat is given back", () => {
  test("after an error of the queue's", async () => {
    await oweAndQueue(world.database, 1);
    await passTime(world.database.sql, durations.lostAfter + 1);
    world.cloud.fail("GetQueueAttributes", { error: { status: 403, code: "AccessDenied", message: "no" } });
    await expect(world.run()).rejects.toThrow("no");
    expect(await heartbeat()).toEqual({ holder: null, held_until: null });
    world.cloud.sqs.faults.clear();
    expect(await world.run()).toMatchObject({ swept: true });
  });

  test("after an error of the ledger's, and what was published is sent once more, not lost", async () => {
    await owe(world.database, 3);
    const { sql } = world.database;
    await sql`ALTER TABLE owed.notification ADD CONSTRAINT none_queued CHECK (state <> 'queued')`;
    await expect(world.run()).rejects.toThrow("none_queued");
    await sql`ALTER TABLE owed.notification DROP CONSTRAINT none_queued`;
    expect(await heartbeat()).toEqual({ holder: null, held_until: null });
    expect(await countStates(world.database)).toEqual({ leased: 3 });
    await passTime(sql, durations.lease + 1);
    expect(await world.swept()).toMatchObject({ published: 3 });
  });
});
