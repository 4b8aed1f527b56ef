import { randomUUID } from "node:crypto";
import { cancel, defaultDurations as durations, Ledger, listRefusedEvents, record } from "@owed/ledger";
import type { SQSRecord } from "aws-lambda";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { acknowledged, comesAgainIn } from "../testing/disposals.ts";
import { claimRow, oweOneThatBecame } from "../testing/fates.ts";
import { startGate } from "../testing/gate.ts";
import { type RecordOptions, recordOf } from "../testing/records.ts";
import { empty, oweAndQueue, oweOneAndQueue, readRow, readTries } from "../testing/rows.ts";
import { sesEvent } from "../testing/ses-events.ts";
import { feedback } from "./feedback.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const none = { proven: 0, known: 0, gone: 0, ignored: 0, duplicate: 0 };
const aTime = "2026-03-29T09:30:00.123Z";

const about = (id: string, more: Record<string, unknown> = {}, options: RecordOptions = {}) =>
  recordOf(JSON.stringify(sesEvent(id, { messageId: "P-1", timestamp: aTime, ...more })), options);
const weigh = async (records: SQSRecord[], ledger: Ledger = database.ledger) => {
  const onError = vi.fn();
  const { disposals, counts } = await feedback({ ledger, onError }, records);
  return { counts, onError, disposals: records.map((each) => disposals.get(each)) };
};

/** A row that a worker has claimed. */
async function aSendingRow(): Promise<{ id: string; token: number }> {
  const row = await oweOneAndQueue(database);
  return { id: row.id, token: await claimRow(database, row) };
}
const deliveredAt = async (id: string) => {
  const [row] = await database.sql<{ delivered_at: Date }[]>`
    SELECT delivered_at FROM owed.notification WHERE id = ${id}`;
  return row?.delivered_at.toISOString();
};

describe("evidence delivers", () => {
  test.each<[string, () => Promise<string>]>([
    ["queued", async () => (await oweOneAndQueue(database)).id],
    ["sending: the event was faster than the worker's record", async () => (await aSendingRow()).id],
    [
      "unknown",
      async () => (await oweOneThatBecame(database, { kind: "unknown", reason: "TimedOut: x" })).id,
    ],
    ["dead", async () => (await oweOneThatBecame(database, { kind: "exhausted", reason: "Down: x" })).id],
  ])("a row that is %s", async (_, arrange) => {
    const id = await arrange();
    const { counts, disposals } = await weigh([about(id)]);
    expect({ counts, disposals }).toEqual({ counts: { ...none, proven: 1 }, disposals: [acknowledged] });
    expect(await readRow(database, id)).toMatchObject({
      state: "delivered",
      evidence: "feedback",
      outcome: "accepted",
      provider_message_id: "P-1",
      reason: null,
    });
    expect(await deliveredAt(id)).toBe(aTime);
  });

  test("and the worker that comes late with its own record changes nothing", async () => {
    const { id, token } = await aSendingRow();
    await weigh([about(id)]);
    const accepted = { kind: "accepted", provider: "ses", providerMessageId: "P-1" } as const;
    expect(await record(database.ledger, durations, [{ id, token, outcome: accepted }])).toEqual(
      new Set([id]),
    );
    expect(await readRow(database, id)).toMatchObject({ state: "delivered", evidence: "feedback" });
    expect(await deliveredAt(id)).toBe(aTime);
  });
});

test("in a cancelled row only the outcome moves", async () => {
  const { id } = await oweOneAndQueue(database);
  await cancel(database.ledger, id, { actor: "ana", why: "not wanted" });
  expect((await weigh([about(id, { eventType: "Delivery" })])).counts).toEqual({ ...none, known: 1 });
  expect(await readRow(database, id)).toMatchObject({
    state: "cancelled",
    outcome: "arrived",
    evidence: null,
  });
});

test("in whatever order and however often events come: delivered once, and the gravest outcome stands", async () => {
  const rank = ["Send", "Delivery", "Bounce", "Complaint"];
  const outcomes = ["accepted", "arrived", "bounced", "complained"];
  const batches = fc.array(fc.array(fc.constantFrom(...rank), { minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(batches, fc.boolean(), async (given, recordedFirst) => {
      const { id, token } = await aSendingRow();
      const accepted = { kind: "accepted", provider: "ses", providerMessageId: "P-1" } as const;
      if (recordedFirst) await record(database.ledger, durations, [{ id, token, outcome: accepted }]);
      const total = { ...none };
      for (const types of given) {
        const { counts, disposals } = await weigh(types.map((eventType) => about(id, { eventType })));
        expect(disposals).toEqual(types.map(() => acknowledged));
        for (const name of Object.keys(none) as (keyof typeof none)[]) total[name] += counts[name];
      }
      const all = given.flat();
      expect(total).toEqual({
        ...none,
        proven: recordedFirst ? 0 : 1,
        known: all.length - (recordedFirst ? 0 : 1),
      });
      expect(await readRow(database, id)).toMatchObject({
        state: "delivered",
        evidence: recordedFirst ? "reply" : "feedback",
        outcome: outcomes[Math.max(...all.map((type) => rank.indexOf(type)))],
      });
      expect(await readTries(database, id)).toEqual([]);
    }),
    { numRuns: 12 },
  );
});

test("an event of another provider message: the recipient got it twice, counted once", async () => {
  const { id } = await oweOneThatBecame(database, {
    kind: "accepted",
    provider: "ses",
    providerMessageId: "P-0",
  });
  const twice = [about(id), about(id, { eventType: "Delivery" })];
  expect((await weigh(twice)).counts).toEqual({ ...none, known: 2, duplicate: 2 });
  expect((await weigh([about(id)])).disposals).toEqual([acknowledged]);
  expect(await readTries(database, id)).toEqual(["duplicate"]);
  expect(await readRow(database, id)).toMatchObject({ provider_message_id: "P-0", outcome: "arrived" });
});

test("about a row that nobody knows (yet): it comes again, later from time to time", async () => {
  const [a, b] = [randomUUID(), randomUUID()];
  const { counts, disposals } = await weigh([about(a), about(b, {}, { receives: 3 })]);
  expect({ counts, disposals }).toEqual({
    counts: { ...none, gone: 2 },
    disposals: [comesAgainIn(30), comesAgainIn(90)],
  });
});

test("about a row that nobody knew five times: kept for a look, and acknowledged", async () => {
  const event = about(randomUUID(), {}, { receives: 5 });
  expect((await weigh([event])).disposals).toEqual([acknowledged]);
  expect(await listRefusedEvents(database.ledger, 10)).toMatchObject([
    { field: "notification", reason: "is not in this ledger", body: Buffer.from(event.body) },
  ]);
});

test("a batch of everything: each has its own end, and none disturbs the others", async () => {
  const [one, two] = await oweAndQueue(database, 2);
  const [first, second] = [one?.id ?? "", two?.id ?? ""];
  const { counts, disposals, onError } = await weigh([
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
  expect(counts).toEqual({ ...none, proven: 2, known: 2, gone: 1, ignored: 5 });
  expect(disposals).toEqual(
    Array.from({ length: 10 }, (_, place) => (place === 2 ? comesAgainIn(30) : acknowledged)),
  );
  expect(onError).toHaveBeenCalledTimes(5);
  expect(await readRow(database, first)).toMatchObject({ state: "delivered", outcome: "bounced" });
  expect(await readRow(database, second)).toMatchObject({ state: "delivered", outcome: "accepted" });
});

test("the database away: all that could be evidence comes again", async () => {
  const { id } = await aSendingRow();
  const gate = await startGate(database.options);
  const ledger = new Ledger({ ...database.options, port: gate.port });
  gate.shut();
  const batch = [about(id), about(id, { eventType: "Delivery" }, { receives: 2 }), recordOf("{")];
  const { disposals, counts } = await weigh(batch, ledger);
  expect(disposals).toEqual([comesAgainIn(10), comesAgainIn(30), acknowledged]);
  expect(counts).toEqual({ ...none, ignored: 1 });
  gate.open();
  expect((await weigh(batch, ledger)).counts).toEqual({ ...none, proven: 1, known: 1, ignored: 1 });
  await ledger.close();
  await gate.close();
});
