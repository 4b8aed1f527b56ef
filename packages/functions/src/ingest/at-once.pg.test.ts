import { setImmediate as turn } from "node:timers/promises";
import type { Ledger } from "@owed/ledger";
import { LedgerUnavailable } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { registerShipment, tellEveryUpdate } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { parseSettings } from "../settings.ts";
import { acknowledged } from "../testing/disposals.ts";
import { bodyOf } from "../testing/events.ts";
import { nothing, take } from "../testing/ingestions.ts";
import { recordOf } from "../testing/records.ts";
import { countStates } from "../testing/rows.ts";
import { countStatements } from "../testing/statements.ts";
import { entriesOf, publishedIds, type Sweeping, startSweeping } from "../testing/sweeps.ts";

let world: Sweeping;
let shipment: string;
beforeAll(async () => {
  world = await startSweeping();
});
beforeEach(async () => {
  await world.reset();
  shipment = await registerShipment(world.database, ["buyer", "merchant"]);
  await world.swept();
});
afterAll(() => world.stop());

const about = (more: Record<string, unknown> = {}) =>
  recordOf(
    bodyOf({
      shipment_id: shipment,
      status: "delivery_exception",
      occurred_at: new Date().toISOString(),
      ...more,
    }),
  );

type Options = { settings?: unknown; remaining?: number; ledger?: Ledger };
const ingested = (records = [about()], { settings = {}, remaining = 30, ledger }: Options = {}) =>
  take(ledger ?? world.database.ledger, records, () => remaining, {
    sqs: world.sqs,
    notificationQueueUrl: world.cloud.queues.notification.url,
    settings: parseSettings(settings),
  });

const recordedOnly = { ...nothing, recorded: 1, notifications: 2 };

test("what an event owes at once is published and marked right after it is recorded, and no sweep does it again", async () => {
  const calls = world.cloud.calls("SendMessageBatch");
  const { counts, disposals, onError } = await ingested();
  expect(counts).toEqual({ ...recordedOnly, published: 2 });
  expect(disposals).toEqual([acknowledged]);
  expect(onError).not.toHaveBeenCalled();
  expect(calls).toHaveLength(1);
  for (const { MessageDeduplicationId } of entriesOf(calls))
    expect(MessageDeduplicationId).toMatch(/^shipment-notif-[0-9a-f-]{36}$/);
  expect(await countStates(world.database)).toEqual({ queued: 2 });
  expect(await world.swept()).toMatchObject({ leased: 0, published: 0 });
});

test("a batch of ten events goes out in full calls", async () => {
  const shipments = await Promise.all(Array.from({ length: 10 }, () => registerShipment(world.database)));
  const calls = world.cloud.calls("SendMessageBatch");
  const { counts } = await ingested(shipments.map((shipment_id) => about({ shipment_id })));
  expect(counts).toEqual({ ...nothing, recorded: 10, notifications: 10, published: 10 });
  expect(calls).toHaveLength(1);
});

test("switched off, or with little time left: the sweep publishes it", async () => {
  const calls = world.cloud.calls("SendMessageBatch");
  expect((await ingested([about()], { settings: { ingest: { atOnce: false } } })).counts).toEqual(
    recordedOnly,
  );
  expect((await ingested([about()], { remaining: 24 })).counts).toMatchObject({ published: 0 });
  expect(calls).toEqual([]);
  expect(await world.swept()).toMatchObject({ published: 2 });
});

test("with nothing new to tell, the ledger is asked for nothing more than before", async () => {
  const calls = world.cloud.calls("SendMessageBatch");
  const body = bodyOf({ shipment_id: await registerShipment(world.database, []) });
  const statements = (records: Parameters<typeof ingested>[0]) =>
    countStatements(world.database, () => ingested(records));
  expect(await statements([recordOf(body)]), "nobody watches").toBe(1);
  expect(await statements([recordOf(body)]), "repeated").toBe(1);
  expect(await statements([recordOf("{")]), "refused").toBe(1);
  expect(await statements([about()]), "record, lease, mark").toBe(3);
  await world.database.sql`UPDATE owed.heartbeat SET beat_at = NULL`;
  expect(calls).toHaveLength(1);
  expect(await statements([about()]), "record, lease").toBe(2);
  expect(calls).toHaveLength(1);
});

test("what SQS refuses is counted and told, and owed again when its lease has passed; the event is acknowledged", async () => {
  world.cloud.fail("SendMessageBatch", { failed: () => ({ code: "InternalError", message: "x" }) });
  const { counts, disposals, onError } = await ingested();
  expect({ counts, disposals }).toEqual({
    counts: { ...recordedOnly, failed: 2 },
    disposals: [acknowledged],
  });
  expect(onError.mock.calls).toEqual([
    ["the queue refused what is owed at once", new Error("SQS answered InternalError")],
  ]);
  expect(await countStates(world.database)).toEqual({ leased: 2 });
  world.cloud.sqs.faults.clear();
  await passTime(world.database.sql, 119);
  expect(await world.swept()).toMatchObject({ published: 0 });
  await passTime(world.database.sql, 2);
  expect(await world.swept()).toMatchObject({ published: 2 });
});

test("no answer from SQS: the leases run out, and the next sweep sends the same messages", async () => {
  const remove = world.cloud.fail("SendMessageBatch", { drop: "after" });
  const calls = world.cloud.calls("SendMessageBatch");
  const { counts, disposals } = await ingested();
  expect({ counts, disposals }).toEqual({
    counts: { ...recordedOnly, failed: 2 },
    disposals: [acknowledged],
  });
  expect(await countStates(world.database)).toEqual({ leased: 2 });
  remove();
  await passTime(world.database.sql, 121);
  expect(await world.swept()).toMatchObject({ published: 2 });
  const sent = entriesOf(calls).map((entry) => entry.MessageDeduplicationId);
  expect(new Set(sent).size).toBe(2);
});

/** The ledger, from whose statement on, counted from 1, nothing is heard. */
function failing(from: number): Ledger {
  let statements = 0;
  const run: Ledger["run"] = (...given) => {
    statements += 1;
    if (statements >= from) throw new LedgerUnavailable(new Error("away"), true);
    return world.database.ledger.run(...given);
  };
  return new Proxy(world.database.ledger, {
    get: (target, name) => (name === "run" ? run : Reflect.get(target, name, target)),
  });
}

test.each([
  ["at the lease", 2, { failed: 1 }, { pending: 2 }],
  ["at the mark", 3, { published: 2, failed: 1 }, { leased: 2 }],
])("the database away %s: told and counted, the event is acknowledged", async (_, from, more, states) => {
  const { counts, disposals, onError } = await ingested([about()], { ledger: failing(from) });
  expect({ counts, disposals }).toEqual({ counts: { ...recordedOnly, ...more }, disposals: [acknowledged] });
  expect(onError).toHaveBeenCalledExactlyOnceWith(
    "what is owed at once is left to the next sweep",
    expect.any(LedgerUnavailable),
  );
  expect(await countStates(world.database)).toEqual(states);
});

test("past its time it calls no more: what is leased is owed again when that has passed", async () => {
  const left = [30, 15];
  const { counts } = await take(world.database.ledger, [about()], () => left.shift() ?? 15, {
    sqs: world.sqs,
    notificationQueueUrl: world.cloud.queues.notification.url,
    settings: parseSettings({}),
  });
  expect(counts).toEqual(recordedOnly);
  expect(await countStates(world.database)).toEqual({ leased: 2 });
  await passTime(world.database.sql, 121);
  expect(await world.swept()).toMatchObject({ published: 2 });
});

test("a sweep that comes while ingest has the older row of a group on its way leaves the newer one", async () => {
  const told = await registerShipment(world.database);
  await tellEveryUpdate(world.database, told, ["out_for_delivery"]);
  const calls = world.cloud.calls("SendMessageBatch");
  let go = () => {};
  const hold = new Promise<void>((resolve) => {
    go = resolve;
  });
  const event = (occurred_at: string) =>
    recordOf(bodyOf({ shipment_id: told, status: "out_for_delivery", occurred_at }));
  const now = Date.now();
  const remove = world.cloud.fail("SendMessageBatch", { hold });
  const first = ingested([event(new Date(now - 2000).toISOString())]);
  while ((await countStates(world.database)).leased !== 1) await turn();
  expect((await ingested([event(new Date(now - 1000).toISOString())])).counts.published).toBe(0);
  const swept = await world.swept();
  expect(swept.leased).toBe(0);
  remove();
  go();
  expect((await first).counts.published).toBe(1);
  expect(await world.swept()).toMatchObject({ leased: 1, published: 1 });
  const order = await world.database.sql`SELECT id FROM owed.notification ORDER BY id`;
  expect(publishedIds(calls)).toEqual(order.map(({ id }) => id));
});
