import { beginSweep, defaultDurations as durations, pause, resume } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { owe } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { countStates, readRow, readTries } from "../testing/rows.ts";
import { entriesOf, publishedIds, type Sweeping, startSweeping } from "../testing/sweeps.ts";
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
    await resume(world.database.ledger, { actor: "ana", why: null });
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

describe("the heartbeat is given back", () => {
  test("after an error, and what was published is sent once more, not lost; the run is not kept as one that ended", async () => {
    await owe(world.database, 3);
    const { sql } = world.database;
    await sql`ALTER TABLE owed.notification ADD CONSTRAINT none_queued CHECK (state <> 'queued')`;
    await expect(world.run()).rejects.toThrow("none_queued");
    await sql`ALTER TABLE owed.notification DROP CONSTRAINT none_queued`;
    expect(await heartbeat()).toEqual({ holder: null, held_until: null });
    expect(await sql`SELECT finished_at FROM owed.sweep_run`).toEqual([{ finished_at: null }]);
    expect(await countStates(world.database)).toEqual({ leased: 3 });
    await passTime(sql, durations.lease + 1);
    expect(await world.swept()).toMatchObject({ published: 3 });
  });
});

describe("rows that have been queued for long", () => {
  const queuedForLong = async (rows: number) => {
    await owe(world.database, rows);
    await world.swept();
    await passTime(world.database.sql, durations.lostAfter + 1);
  };
  const asked = () => world.cloud.calls("GetQueueAttributes");

  test("the queue is asked for them alone", async () => {
    await owe(world.database, 1);
    const before = asked();
    await world.swept();
    expect(before).toEqual([]);
    await passTime(world.database.sql, durations.lostAfter + 1);
    await world.swept();
    expect(before.map(({ queueName }) => queueName)).toEqual(["notification.fifo"]);
  });

  test("a queue that does not answer proves nothing, and stops nobody's publishing", async () => {
    await queuedForLong(1);
    await owe(world.database, 2);
    world.cloud.fail("GetQueueAttributes", { error: { status: 403, code: "AccessDenied", message: "no" } });
    expect(await world.swept()).toMatchObject({ rescued: 0, published: 2 });
    expect(world.onError).toHaveBeenCalledExactlyOnceWith(
      "a queue did not say how many messages it holds",
      expect.objectContaining({ name: "AccessDenied" }),
    );
  });

  test("while the queue holds messages nothing is lost: they are looked at again later", async () => {
    await queuedForLong(2);
    expect(await world.swept()).toMatchObject({ rescued: 0, published: 0 });
    expect(await countStates(world.database)).toEqual({ queued: 2 });
    const calls = asked();
    await world.swept();
    expect(calls).toEqual([]);
  });

  test("an empty queue proves nothing at the first look; at the second, their messages are lost and sent anew", async () => {
    await queuedForLong(2);
    await world.cloud.purge(world.cloud.queues.notification.url);
    expect(await world.swept()).toMatchObject({ rescued: 0, published: 0 });
    // Too early for a second look: SQS's counts lag.
    expect(await world.swept()).toMatchObject({ rescued: 0, published: 0 });
    await passTime(world.database.sql, durations.queueEmpty + 1);
    const calls = world.cloud.calls("SendMessageBatch");
    expect(await world.swept()).toMatchObject({ rescued: 2, published: 2 });
    for (const { MessageDeduplicationId } of entriesOf(calls)) expect(MessageDeduplicationId).toMatch(/\.1$/);
    // Within five minutes of the first, and not swallowed.
    expect(await world.cloud.sqs.receive(world.cloud.queues.notification.url)).toHaveLength(2);
  });

  test("two empty looks with a full one between them prove nothing", async () => {
    await queuedForLong(1);
    await world.cloud.purge(world.cloud.queues.notification.url);
    await world.swept();
    await passTime(world.database.sql, durations.queueEmpty + 1);
    await owe(world.database, 1);
    await world.swept({ sweep: { slice: 1 } });
    expect(await countStates(world.database)).toEqual({ queued: 2 });
    await passTime(world.database.sql, durations.lostAfter + 1);
    expect(await world.swept()).toMatchObject({ rescued: 0 });
    await world.cloud.purge(world.cloud.queues.notification.url);
    await passTime(world.database.sql, durations.lostAfter + 1);
    expect(await world.swept()).toMatchObject({ rescued: 0 });
  });

  test("rescued three times in vain: dead, with the reason", async () => {
    await owe(world.database, 1);
    world.cloud.fail("SendMessageBatch", { swallow: true });
    const [{ id } = { id: "" }] = await world.database.sql<
      { id: string }[]
    >`SELECT id FROM owed.notification`;
    await world.swept();
    for (let rescue = 1; rescue <= 4; rescue += 1) {
      // A beat that need not ask the queue forgets what the queue said before.
      await world.swept();
      await passTime(world.database.sql, durations.lostAfter + 1);
      await world.swept();
      await passTime(world.database.sql, durations.queueEmpty + 1);
      expect(await world.swept()).toMatchObject(
        rescue < 4 ? { rescued: 1, published: 1 } : { rescued: 0, lost: 1 },
      );
    }
    expect(await readRow(world.database, id)).toMatchObject({ state: "dead", generation: 3, rescues: 3 });
    expect(await readTries(world.database, id)).toEqual(["rescued", "rescued", "rescued", "lost"]);
  });
});
