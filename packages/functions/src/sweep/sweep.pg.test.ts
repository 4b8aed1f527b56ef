import type { SQSClient } from "@aws-sdk/client-sqs";
import { beginSweep, claim, defaultDurations as durations, pause, record, resume } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen, owe, registerShipment } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { parseSettings } from "../settings.ts";
import { createSqsClient } from "../sqs.ts";
import { startQueues, type TestQueues } from "../testing/queues.ts";
import { countStates, empty, oweAndQueue, readRow, readRows, readTries } from "../testing/rows.ts";
import { countStatements } from "../testing/statements.ts";
import { type Summary, sweep } from "./sweep.ts";

let database: TestDatabase;
let cloud: TestQueues;
let client: SQSClient;
beforeAll(async () => {
  [database, cloud] = await Promise.all([createDatabase(), startQueues()]);
  client = createSqsClient(4);
});
beforeEach(() => empty(database));
afterEach(async () => {
  cloud.sqs.faults.clear();
  await cloud.purge(cloud.queues.feedback.url);
  await cloud.purge(cloud.queues.notification.url);
});
afterAll(async () => {
  client.destroy();
  await Promise.all([database.drop(), cloud.stop()]);
});

type Swept = Extract<Summary, { swept: true }>;

const run = (settings: unknown = {}, remaining = 60): Promise<Summary> =>
  sweep({
    ledger: database.ledger,
    sqs: client,
    notificationQueueUrl: cloud.queues.notification.url,
    feedbackQueueUrl: cloud.queues.feedback.url,
    settings: parseSettings(settings),
    remaining: () => remaining,
  });
const swept = async (settings: unknown = {}, remaining?: number): Promise<Swept> => {
  const summary = await run(settings, remaining);
  if (!summary.swept) throw new Error(`the sweep was skipped: ${summary.why}`);
  return summary;
};
const heartbeat = async () => {
  const [beat] = await database.sql`SELECT holder, held_until FROM owed.heartbeat`;
  return beat;
};
type Entry = { MessageBody: string; MessageDeduplicationId: string };
/** The messages that the queue was given, in their order. */
const entriesOf = (calls: { request: unknown }[]) =>
  calls.flatMap(({ request }) => (request as { Entries: Entry[] }).Entries);
const published = (calls: { request: unknown }[]) =>
  entriesOf(calls).map(({ MessageBody }) => JSON.parse(MessageBody).id as string);
const rowsOf = async (shipments: string[]) => {
  const { sql } = database;
  const rows = await sql<{ id: string }[]>`
    SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
    WHERE e.shipment_id = ANY(${sql.array(shipments)}::text[]) ORDER BY n.id`;
  return rows.map(({ id }) => id);
};
const claimAs = (rows: { id: string; generation: number }[], messageId = "M-1") =>
  claim(
    database.ledger,
    durations,
    rows.map(({ id, generation }) => ({ id, generation, messageId, sentAt: Date.now() })),
  );

test("what is owed is published and marked, slice by slice, in one run; the run is kept", async () => {
  await owe(database, 25);
  const calls = cloud.calls("SendMessageBatch");
  const summary = await swept({ sweep: { slice: 10 } });
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
  expect(new Set(published(calls)).size).toBe(25);
  expect(await countStates(database)).toEqual({ queued: 25 });
  const [kept] =
    await database.sql`SELECT leased, published, owed, finished_at >= started_at AS ended FROM owed.sweep_run`;
  expect(kept).toEqual({ leased: 25, published: 25, owed: 0, ended: true });
});

describe("a beat is skipped", () => {
  test("while the sweeps are paused; then the next one drains", async () => {
    await owe(database, 1);
    await pause(database.ledger, "ana", null);
    expect(await run()).toEqual({ swept: false, why: "paused" });
    expect(await countStates(database)).toEqual({ pending: 1 });
    await resume(database.ledger);
    expect(await run()).toMatchObject({ swept: true, published: 1 });
  });

  test("while another one holds the heartbeat, and no longer than its function may live", async () => {
    await owe(database, 1);
    await beginSweep(database.ledger, durations);
    expect(await run()).toEqual({ swept: false, why: "held" });
    await passTime(database.sql, durations.heartbeat + 1);
    expect(await run()).toMatchObject({ swept: true, published: 1 });
  });

  test("of five at once, four", async () => {
    await owe(database, 12);
    const gate = Promise.withResolvers<void>();
    cloud.fail("SendMessageBatch", { hold: gate.promise });
    let skipped = 0;
    const beat = async () => {
      const summary = await run();
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
  await owe(database, 40);
  const calls = cloud.calls("SendMessageBatch");
  const gate = Promise.withResolvers<void>();
  const release = cloud.fail("SendMessageBatch", { hold: gate.promise });
  const stuck = swept({ sweep: { slice: 10 } });
  await vi.waitFor(async () => expect(await countStates(database)).toEqual({ pending: 20, leased: 20 }));
  release();
  await passTime(database.sql, durations.heartbeat + 1);
  expect(await swept({ sweep: { slice: 10 } })).toMatchObject({ published: 20 });
  gate.resolve();
  expect(await stuck).toMatchObject({ published: 20, fenced: 0 });
  expect(new Set(published(calls)).size).toBe(40);
  expect(published(calls)).toHaveLength(40);
  expect(await countStates(database)).toEqual({ queued: 40 });
});

describe("with nothing owed", () => {
  test("a beat is two statements, and the queue is not asked", async () => {
    await run();
    let called = 0;
    cloud.sqs.faults.add(() => {
      called += 1;
      return undefined;
    });
    expect(await countStatements(database, () => swept())).toBe(2);
    expect(called).toBe(0);
  });

  test("so it is with rows that wait for their time, and with rows that are on their way", async () => {
    const shipment = await registerShipment(database);
    await happen(database, shipment, "customs_hold");
    await oweAndQueue(database, 2);
    let called = 0;
    cloud.sqs.faults.add(() => {
      called += 1;
      return undefined;
    });
    expect(await countStatements(database, () => swept())).toBe(2);
    expect(called).toBe(0);
  });
});

test("the next slice is leased while the current one is published", async () => {
  await owe(database, 20);
  const gate = Promise.withResolvers<void>();
  const release = cloud.fail("SendMessageBatch", { hold: gate.promise });
  const run = swept({ sweep: { slice: 10 } });
  await vi.waitFor(async () => expect(await countStates(database)).toEqual({ leased: 20 }));
  release();
  gate.resolve();
  expect(await run).toMatchObject({ published: 20 });
});

test("a fast worker's claim is not undone by the mark, and is counted as fenced", async () => {
  const [shipment = ""] = await owe(database, 1);
  await owe(database, 2);
  const [id = ""] = await rowsOf([shipment]);
  const gate = Promise.withResolvers<void>();
  cloud.fail("SendMessageBatch", { hold: gate.promise });
  const calls = cloud.calls("SendMessageBatch");
  const run = swept();
  await vi.waitFor(() => expect(calls).toHaveLength(1));
  const [verdict] = await claimAs([{ id, generation: 0 }]);
  if (verdict?.verdict !== "claimed") throw new Error("the worker could not claim");
  const accepted = { kind: "accepted", provider: "ses", providerMessageId: "P-1" } as const;
  await record(database.ledger, durations, [{ id, token: verdict.token, outcome: accepted }]);
  gate.resolve();
  expect(await run).toMatchObject({ published: 3, fenced: 1 });
  expect(await countStates(database)).toEqual({ queued: 2, delivered: 1 });
});

test("a refused entry is given back, its neighbours and the next slices go out", async () => {
  const shipments = await owe(database, 30);
  const [poison = ""] = await rowsOf(shipments);
  cloud.fail("SendMessageBatch", {
    failed: (entry) =>
      String(entry.MessageBody).includes(poison) ? { code: "InternalError", message: "x" } : undefined,
  });
  expect(await swept({ sweep: { slice: 10 } })).toMatchObject({
    published: 29,
    failed: 1,
    refusal: "InternalError",
    owed: 0,
  });
  expect(await countStates(database)).toEqual({ queued: 29, pending: 1 });
  // It is owed again within the minute, and goes out then.
  cloud.sqs.faults.clear();
  await passTime(database.sql, 61);
  expect(await swept()).toMatchObject({ published: 1 });
  expect(await readRow(database, poison)).toMatchObject({ state: "queued", generation: 0 });
});

test("when the queue refuses everything the sweep stops early, and no row stays leased", async () => {
  await owe(database, 60);
  let calls = 0;
  cloud.sqs.faults.add(({ action }) => {
    if (action !== "SendMessageBatch") return undefined;
    calls += 1;
    return { error: { status: 403, code: "AccessDenied", message: "no" } };
  });
  expect(await swept({ sweep: { slice: 20 } })).toMatchObject({
    leased: 20,
    published: 0,
    failed: 20,
    refusal: "AccessDenied",
  });
  expect(calls).toBe(2);
  expect(await countStates(database)).toEqual({ pending: 60 });
  cloud.sqs.faults.clear();
  await passTime(database.sql, 61);
  expect(await swept()).toMatchObject({ published: 60 });
});

test("no answer: the rows keep their lease, and when it has run out the same message is sent", async () => {
  await owe(database, 3);
  cloud.fail("SendMessageBatch", { error: { status: 503, code: "ServiceUnavailable", message: "x" } });
  expect(await swept()).toMatchObject({ published: 0, unsure: 3, failed: 0, owed: 0 });
  cloud.sqs.faults.clear();
  expect(await countStates(database)).toEqual({ leased: 3 });
  await passTime(database.sql, durations.lease + 1);
  const calls = cloud.calls("SendMessageBatch");
  expect(await swept()).toMatchObject({ published: 3 });
  for (const { MessageDeduplicationId } of entriesOf(calls))
    expect(MessageDeduplicationId).toMatch(/^shipment-notif-[0-9a-f-]{36}$/);
});

test("without time nothing is sent, and what was leased is owed again at once", async () => {
  await owe(database, 3);
  const calls = cloud.calls("SendMessageBatch");
  expect(await swept({}, 5)).toMatchObject({ leased: 3, published: 0, failed: 0, owed: 3 });
  expect(calls).toEqual([]);
  expect(await countStates(database)).toEqual({ pending: 3 });
});

describe("the heartbeat is given back", () => {
  test("after an error of the queue's", async () => {
    await oweAndQueue(database, 1);
    await passTime(database.sql, durations.lostAfter + 1);
    cloud.fail("GetQueueAttributes", { error: { status: 403, code: "AccessDenied", message: "no" } });
    await expect(run()).rejects.toThrow("no");
    expect(await heartbeat()).toEqual({ holder: null, held_until: null });
    cloud.sqs.faults.clear();
    expect(await run()).toMatchObject({ swept: true });
  });

  test("after an error of the ledger's, and what was published is sent once more, not lost", async () => {
    await owe(database, 3);
    const { sql } = database;
    await sql`ALTER TABLE owed.notification ADD CONSTRAINT none_queued CHECK (state <> 'queued')`;
    await expect(run()).rejects.toThrow("none_queued");
    await sql`ALTER TABLE owed.notification DROP CONSTRAINT none_queued`;
    expect(await heartbeat()).toEqual({ holder: null, held_until: null });
    expect(await countStates(database)).toEqual({ leased: 3 });
    await passTime(sql, durations.lease + 1);
    expect(await swept()).toMatchObject({ published: 3 });
  });
});

describe("rows that have been queued for long", () => {
  const queuedForLong = async (rows: number) => {
    await owe(database, rows);
    await swept();
    await passTime(database.sql, durations.lostAfter + 1);
  };
  const asked = () => cloud.calls("GetQueueAttributes");

  test("the queue is asked for them alone", async () => {
    await owe(database, 1);
    const before = asked();
    await swept();
    expect(before).toEqual([]);
    await passTime(database.sql, durations.lostAfter + 1);
    await swept();
    expect(before.map(({ queueName }) => queueName)).toEqual(["notification.fifo"]);
  });

  test("while the queue holds messages nothing is lost: they are looked at again later", async () => {
    await queuedForLong(2);
    expect(await swept()).toMatchObject({ rescued: 0, published: 0 });
    expect(await countStates(database)).toEqual({ queued: 2 });
    const calls = asked();
    await swept();
    expect(calls).toEqual([]);
  });

  test("an empty queue proves nothing at the first look; at the second, their messages are lost and sent anew", async () => {
    await queuedForLong(2);
    await cloud.purge(cloud.queues.notification.url);
    expect(await swept()).toMatchObject({ rescued: 0, published: 0 });
    // Too early for a second look: SQS's counts lag.
    expect(await swept()).toMatchObject({ rescued: 0, published: 0 });
    await passTime(database.sql, durations.queueEmpty + 1);
    const calls = cloud.calls("SendMessageBatch");
    expect(await swept()).toMatchObject({ rescued: 2, published: 2 });
    for (const { MessageDeduplicationId } of entriesOf(calls)) expect(MessageDeduplicationId).toMatch(/\.1$/);
    // Within five minutes of the first, and not swallowed.
    expect(await cloud.sqs.receive(cloud.queues.notification.url)).toHaveLength(2);
  });

  test("two empty looks with a full one between them prove nothing", async () => {
    await queuedForLong(1);
    await cloud.purge(cloud.queues.notification.url);
    await swept();
    await passTime(database.sql, durations.queueEmpty + 1);
    await owe(database, 1);
    await swept({ sweep: { slice: 1 } });
    expect(await countStates(database)).toEqual({ queued: 2 });
    await passTime(database.sql, durations.lostAfter + 1);
    expect(await swept()).toMatchObject({ rescued: 0 });
    await cloud.purge(cloud.queues.notification.url);
    await passTime(database.sql, durations.lostAfter + 1);
    expect(await swept()).toMatchObject({ rescued: 0 });
  });

  test("rescued three times in vain: dead, with the reason", async () => {
    await owe(database, 1);
    cloud.fail("SendMessageBatch", { swallow: true });
    const [{ id } = { id: "" }] = await database.sql<{ id: string }[]>`SELECT id FROM owed.notification`;
    await swept();
    for (let rescue = 1; rescue <= 4; rescue += 1) {
      // A beat that need not ask the queue forgets what the queue said before.
      await swept();
      await passTime(database.sql, durations.lostAfter + 1);
      await swept();
      await passTime(database.sql, durations.queueEmpty + 1);
      expect(await swept()).toMatchObject(
        rescue < 4 ? { rescued: 1, published: 1 } : { rescued: 0, lost: 1 },
      );
    }
    expect(await readRow(database, id)).toMatchObject({ state: "dead", generation: 3, rescues: 3 });
    expect(await readTries(database, id)).toEqual(["rescued", "rescued", "rescued", "lost"]);
  });
});

describe("rows whose outcome is unknown", () => {
  const anUnknownRow = async () => {
    const [row] = await oweAndQueue(database, 1);
    const id = row?.id ?? "";
    const [verdict] = await claimAs([{ id, generation: 0 }]);
    if (verdict?.verdict !== "claimed") throw new Error("the worker could not claim");
    const unknown = { kind: "unknown", reason: "TimedOut: no answer" } as const;
    await record(database.ledger, durations, [{ id, token: verdict.token, outcome: unknown }]);
    return id;
  };

  test("wait for the provider's events while these are backed up; then they are sent again, and counted", async () => {
    const id = await anUnknownRow();
    await passTime(database.sql, durations.grace + 1);
    await cloud.sqs.send(cloud.queues.feedback.url, { MessageBody: "an event that may be about it" });
    for (const _ of [1, 2]) expect(await swept()).toMatchObject({ resent: 0, published: 0 });
    expect(await readRow(database, id)).toMatchObject({ state: "unknown", generation: 0 });
    await cloud.purge(cloud.queues.feedback.url);
    expect(await swept()).toMatchObject({ resent: 1, published: 1 });
    expect(await readRow(database, id)).toMatchObject({ state: "queued", generation: 1, resends: 1 });
    expect(await readTries(database, id)).toEqual(["unknown", "resent"]);
  });

  test("do not hold up what else is owed", async () => {
    const id = await anUnknownRow();
    await passTime(database.sql, durations.grace + 1);
    await cloud.sqs.send(cloud.queues.feedback.url, { MessageBody: "an event" });
    await owe(database, 3);
    expect(await swept({ sweep: { slice: 1 } })).toMatchObject({ resent: 0, published: 3 });
    expect(await readRow(database, id)).toMatchObject({ state: "unknown" });
  });

  test("a worker that vanished is found: its row waits for evidence first", async () => {
    const rows = await oweAndQueue(database, 2);
    await claimAs(rows);
    await passTime(database.sql, durations.lostAfter + 1);
    expect(await swept()).toMatchObject({ unknown: 2, resent: 0, published: 0 });
    const found = await readRows(
      database,
      rows.map(({ id }) => id),
    );
    expect(found.map(({ state, reason }) => [state, reason])).toEqual(
      Array(2).fill(["unknown", "no_outcome: the worker vanished before it recorded one"]),
    );
  });
});
