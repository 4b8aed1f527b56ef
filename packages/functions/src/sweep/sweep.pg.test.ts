import { defaultDurations as durations, Ledger, record } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { happen, owe, registerShipment } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { countStates, oweAndQueue, readRow } from "../testing/rows.ts";
import { countStatements } from "../testing/statements.ts";
import { entriesOf, publishedIds, type Sweeping, startSweeping } from "../testing/sweeps.ts";
import { until } from "../testing/until.ts";

let world: Sweeping;
beforeAll(async () => {
  world = await startSweeping();
});
beforeEach(() => world.reset());
afterAll(() => world.stop());

const rowsOf = async (shipments: string[]) => {
  const { sql } = world.database;
  const rows = await sql<{ id: string }[]>`
    SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
    WHERE e.shipment_id = ANY(${sql.array(shipments)}::text[]) ORDER BY n.id`;
  return rows.map(({ id }) => id);
};

test("what is owed is published and marked, slice by slice, in one run; the run is kept", async () => {
  await owe(world.database, 25);
  const calls = world.cloud.calls("SendMessageBatch");
  const summary = await world.swept({ sweep: { slice: 10 } });
  expect(summary).toMatchObject({
    leased: 25,
    published: 25,
    slices: 3,
    failed: 0,
    unsure: 0,
    fenced: 0,
    owed: 0,
    oldestOwedAge: 0,
    refusal: null,
  });
  expect(new Set(publishedIds(calls)).size).toBe(25);
  expect(await countStates(world.database)).toEqual({ queued: 25 });
  const [kept] = await world.database
    .sql`SELECT leased, published, owed, finished_at >= started_at AS ended FROM owed.sweep_run`;
  expect(kept).toEqual({ leased: 25, published: 25, owed: 0, ended: true });
});

test("the next slice is leased while the current one is published", async () => {
  await owe(world.database, 20);
  const gate = Promise.withResolvers<void>();
  const release = world.cloud.fail("SendMessageBatch", { hold: gate.promise });
  const run = world.swept({ sweep: { slice: 10 } });
  await until(async () => expect(await countStates(world.database)).toEqual({ leased: 20 }));
  release();
  gate.resolve();
  expect(await run).toMatchObject({ published: 20 });
});

test("and publishing does not wait for that lease", async () => {
  await owe(world.database, 20);
  const gate = Promise.withResolvers<void>();
  /** Its second lease, after the heartbeat, the channel's limits and the first, comes only when a message has been sent. */
  class SlowLedger extends Ledger {
    statements = 0;
    override async run<T>(...args: Parameters<typeof Ledger.prototype.run<T>>): Promise<T> {
      this.statements += 1;
      if (this.statements === 4) await gate.promise;
      return super.run(...args);
    }
  }
  const ledger = new SlowLedger(world.database.options);
  const calls = world.cloud.calls("SendMessageBatch");
  const summary = world.swept({ sweep: { slice: 10 } }, 60, ledger);
  await until(() => expect(calls.length).toBeGreaterThan(0));
  gate.resolve();
  expect(await summary).toMatchObject({ published: 20 });
  await ledger.close();
});

test("a fast worker's claim is not undone by the mark, and is counted as fenced", async () => {
  const [shipment = ""] = await owe(world.database, 1);
  await owe(world.database, 2);
  const [id = ""] = await rowsOf([shipment]);
  const gate = Promise.withResolvers<void>();
  world.cloud.fail("SendMessageBatch", { hold: gate.promise });
  const calls = world.cloud.calls("SendMessageBatch");
  const run = world.swept();
  await until(() => expect(calls).toHaveLength(1));
  const [verdict] = await world.claim([{ id, generation: 0 }]);
  if (verdict?.verdict !== "claimed") throw new Error("the worker could not claim");
  const accepted = { kind: "accepted", provider: "ses", providerMessageId: "P-1" } as const;
  await record(world.database.ledger, durations, [{ id, token: verdict.token, outcome: accepted }]);
  gate.resolve();
  expect(await run).toMatchObject({ published: 3, fenced: 1 });
  expect(await countStates(world.database)).toEqual({ queued: 2, delivered: 1 });
});

test("a refused entry is given back, its neighbours and the next slices go out", async () => {
  const shipments = await owe(world.database, 30);
  const [poison = ""] = await rowsOf(shipments);
  world.cloud.fail("SendMessageBatch", {
    failed: (entry) =>
      String(entry.MessageBody).includes(poison) ? { code: "InternalError", message: "x" } : undefined,
  });
  expect(await world.swept({ sweep: { slice: 10 } })).toMatchObject({
    published: 29,
    failed: 1,
    refusal: "InternalError",
    owed: 0,
  });
  expect(await countStates(world.database)).toEqual({ queued: 29, pending: 1 });
  // It is owed again within the minute, and goes out then.
  world.cloud.sqs.faults.clear();
  await passTime(world.database.sql, 61);
  expect(await world.swept()).toMatchObject({ published: 1 });
  expect(await readRow(world.database, poison)).toMatchObject({ state: "queued", generation: 0 });
});

test("when the queue refuses everything the sweep stops early, and no row stays leased", async () => {
  await owe(world.database, 60);
  let calls = 0;
  world.cloud.sqs.faults.add(({ action }) => {
    if (action !== "SendMessageBatch") return undefined;
    calls += 1;
    return { error: { status: 403, code: "AccessDenied", message: "no" } };
  });
  expect(await world.swept({ sweep: { slice: 20 } })).toMatchObject({
    // The slice that was leased meanwhile is given back.
    leased: 40,
    published: 0,
    failed: 20,
    refusal: "AccessDenied",
  });
  expect(calls).toBe(2);
  expect(await countStates(world.database)).toEqual({ pending: 60 });
  world.cloud.sqs.faults.clear();
  await passTime(world.database.sql, 61);
  expect(await world.swept()).toMatchObject({ published: 60 });
});

test("no answer: the rows keep their lease, and when it has run out the same message is sent", async () => {
  await owe(world.database, 3);
  world.cloud.fail("SendMessageBatch", { error: { status: 503, code: "ServiceUnavailable", message: "x" } });
  expect(await world.swept()).toMatchObject({ published: 0, unsure: 3, failed: 0, owed: 0 });
  world.cloud.sqs.faults.clear();
  expect(await countStates(world.database)).toEqual({ leased: 3 });
  await passTime(world.database.sql, durations.lease + 1);
  const calls = world.cloud.calls("SendMessageBatch");
  expect(await world.swept()).toMatchObject({ published: 3 });
  for (const { MessageDeduplicationId } of entriesOf(calls))
    expect(MessageDeduplicationId).toMatch(/^shipment-notif-[0-9a-f-]{36}$/);
});

test("without time nothing is leased or sent", async () => {
  await owe(world.database, 3);
  const calls = world.cloud.calls("SendMessageBatch");
  expect(await world.swept({}, 5)).toMatchObject({ leased: 0, published: 0, failed: 0, owed: 3 });
  expect(calls).toEqual([]);
  expect(await countStates(world.database)).toEqual({ pending: 3 });
});

test("when the time ends during a slice, what was leased and not sent is owed again at once", async () => {
  await owe(world.database, 50);
  world.cloud.fail("SendMessageBatch", { delay: 1600 });
  const summary = await world.swept({ sweep: { slice: 20, lanes: 1 } }, 6.5);
  expect(summary).toMatchObject({ leased: 40, published: 10, failed: 0, unsure: 0, owed: 40 });
  expect(await countStates(world.database)).toEqual({ pending: 40, queued: 10 });
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
