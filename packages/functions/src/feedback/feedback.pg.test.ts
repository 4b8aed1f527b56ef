import { randomUUID } from "node:crypto";
import { cancel, defaultDurations as durations, Ledger, listRefusedEvents, record } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { acknowledged, comesAgainIn } from "../testing/disposals.ts";
import { oweOneThatBecame } from "../testing/fates.ts";
import { about, accepted, aSendingRow, aTime, deliveredAt, none, weigh } from "../testing/feedbacks.ts";
import { startGate } from "../testing/gate.ts";
import { recordOf } from "../testing/records.ts";
import { empty, oweAndQueue, oweOneAndQueue, readRow, readTries } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

describe("evidence delivers", () => {
  test.each<[string, () => Promise<string>]>([
    ["queued", async () => (await oweOneAndQueue(database)).id],
    ["sending: the event was faster than the worker's record", async () => (await aSendingRow(database)).id],
    [
      "unknown",
      async () => (await oweOneThatBecame(database, { kind: "unknown", reason: "TimedOut: x" })).id,
    ],
    ["dead", async () => (await oweOneThatBecame(database, { kind: "exhausted", reason: "Down: x" })).id],
  ])("a row that is %s", async (_, arrange) => {
    const id = await arrange();
    const { counts, disposals } = await weigh(database.ledger, [about(id)]);
    expect({ counts, disposals }).toEqual({ counts: { ...none, proven: 1 }, disposals: [acknowledged] });
    expect(await readRow(database, id)).toMatchObject({
      state: "delivered",
      evidence: "feedback",
      outcome: "accepted",
      provider_message_id: "P-1",
      reason: null,
    });
    expect(await deliveredAt(database, id)).toBe(aTime);
  });

  test("and the worker that comes late with its own record changes nothing", async () => {
    const { id, token } = await aSendingRow(database);
    await weigh(database.ledger, [about(id)]);
    expect(await record(database.ledger, durations, [{ id, token, outcome: accepted }])).toEqual(
      new Set([id]),
    );
    expect(await readRow(database, id)).toMatchObject({ state: "delivered", evidence: "feedback" });
    expect(await deliveredAt(database, id)).toBe(aTime);
  });
});

test("in a cancelled row only the outcome moves", async () => {
  const { id } = await oweOneAndQueue(database);
  await cancel(database.ledger, id, { actor: "ana", why: "not wanted" });
  expect((await weigh(database.ledger, [about(id, { eventType: "Delivery" })])).counts).toEqual({
    ...none,
    known: 1,
  });
  expect(await readRow(database, id)).toMatchObject({
    state: "cancelled",
    outcome: "arrived",
    evidence: null,
  });
});

test("an event of another provider message: the recipient got it twice, counted once", async () => {
  const { id } = await oweOneThatBecame(database, {
    kind: "accepted",
    provider: "ses",
    providerMessageId: "P-0",
  });
  const twice = [about(id), about(id, { eventType: "Delivery" })];
  expect((await weigh(database.ledger, twice)).counts).toEqual({ ...none, known: 2, duplicate: 2 });
  expect((await weigh(database.ledger, [about(id)])).disposals).toEqual([acknowledged]);
  expect(await readTries(database, id)).toEqual(["duplicate"]);
  expect(await readRow(database, id)).toMatchObject({ provider_message_id: "P-0", outcome: "arrived" });
});

test("about a row that nobody knows (yet): it comes again, later from time to time", async () => {
  const [a, b] = [randomUUID(), randomUUID()];
  const { counts, disposals } = await weigh(database.ledger, [about(a), about(b, {}, { receives: 3 })]);
  expect({ counts, disposals }).toEqual({
    counts: { ...none, gone: 2 },
    disposals: [comesAgainIn(30), comesAgainIn(90)],
  });
});

test("about a row that nobody knew five times: kept for a look, and acknowledged", async () => {
  const event = about(randomUUID(), {}, { receives: 5 });
  expect((await weigh(database.ledger, [event])).disposals).toEqual([acknowledged]);
  expect(await listRefusedEvents(database.ledger, 10)).toMatchObject([
    {
      ...{ queue: "feedback", field: "notification", reason: "is not in this ledger" },
      body: Buffer.from(event.body),
    },
  ]);
});

test("a batch of everything: each has its own end, and none disturbs the others", async () => {
  const [one, two] = await oweAndQueue(database, 2);
  const [first, second] = [one?.id ?? "", two?.id ?? ""];
  const { counts, disposals, onError } = await weigh(database.ledger, [
    about(first),
    recordOf("{"),
    about(randomUUID()),
    about(second, { eventType: "Open" }),
    about(first, { eventType: "Bounce" }),
    about(second, { tags: { notification: ["'; --"] } }),
    about(second, { messageId: "P\u0000" }),
    about(second, { timestamp: "2026-02-30T10:00:00Z" }),
    about(second),
    about(first, { eventType: "Delivery" }),
  ]);
  expect(counts).toEqual({ ...none, proven: 2, known: 2, gone: 1, ignored: 5, bounced: 1, suppressed: 1 });
  expect(disposals).toEqual(
    Array.from({ length: 10 }, (_, place) => (place === 2 ? comesAgainIn(30) : acknowledged)),
  );
  expect(onError).toHaveBeenCalledTimes(5);
  expect(await readRow(database, first)).toMatchObject({ state: "delivered", outcome: "bounced" });
  expect(await readRow(database, second)).toMatchObject({ state: "delivered", outcome: "accepted" });
});

test("an event that the database refuses comes again alone, and stops no other", async () => {
  const [one, two, three] = (await oweAndQueue(database, 3)).map(({ id }) => id);
  await database.sql`
    CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poison'; END $$`;
  await database.sql.unsafe(`
    CREATE TRIGGER poison BEFORE UPDATE ON owed.notification FOR EACH ROW WHEN (NEW.id = '${two}') EXECUTE FUNCTION poison()`);
  const batch = [one, two, three].map((id = "") => about(id, {}, { receives: 2 }));
  const { counts, disposals, onError } = await weigh(database.ledger, batch).finally(
    () => database.sql`DROP FUNCTION poison CASCADE`,
  );
  expect(counts).toEqual({ ...none, proven: 2 });
  expect(disposals).toEqual([acknowledged, comesAgainIn(30), acknowledged]);
  expect(onError).toHaveBeenCalledExactlyOnceWith(
    "a provider event comes again: it could not be weighed",
    expect.objectContaining({ message: "poison" }),
  );
  expect((await weigh(database.ledger, batch)).counts).toEqual({ ...none, proven: 1, known: 2 });
});

test("evidence that waited in the queue is seen to come late", async () => {
  const lateSince = async () => {
    const [row] = await database.sql<{ at: Date | null }[]>`
      SELECT evidence_late_at AS at FROM owed.channel WHERE name = 'email'`;
    return row?.at ?? null;
  };
  const { id } = await oweOneAndQueue(database);
  await weigh(database.ledger, [about(id)]);
  expect(await lateSince()).toBeNull();
  await weigh(database.ledger, [about(id, {}, { sentAt: Date.now() - 5 * 60_000 })]);
  expect(await lateSince()).toBeInstanceOf(Date);
});

test("the database away: all that could be evidence comes again", async () => {
  const { id } = await aSendingRow(database);
  const gate = await startGate(database.options);
  const ledger = new Ledger({ ...database.options, port: gate.port });
  gate.shut();
  const batch = [about(id), about(id, { eventType: "Delivery" }, { receives: 2 }), recordOf("{")];
  const { disposals, counts } = await weigh(ledger, batch);
  expect(disposals).toEqual([comesAgainIn(10), comesAgainIn(30), acknowledged]);
  expect(counts).toEqual({ ...none, ignored: 1 });
  gate.open();
  expect((await weigh(ledger, batch)).counts).toEqual({ ...none, proven: 1, known: 1, ignored: 1 });
  await ledger.close();
  await gate.close();
});
