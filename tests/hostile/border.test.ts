import { randomUUID } from "node:crypto";
import { claim, defaultDurations, listRefusedEvents, recordEvents } from "@owed/ledger";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseMessage } from "../../packages/functions/src/deliver/message.ts";
import { feedback } from "../../packages/functions/src/feedback/feedback.ts";
import { ingest } from "../../packages/functions/src/ingest/ingest.ts";
import { detailOf, envelope } from "../../packages/functions/src/testing/events.ts";
import { withoutQueue } from "../../packages/functions/src/testing/ingestions.ts";
import { recordOf } from "../../packages/functions/src/testing/records.ts";
import { bounceOf, sesEvent } from "../../packages/functions/src/testing/ses-events.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { registerShipment } from "../support/shipment.ts";
import { anyText, mutated, tally, written } from "./arbitraries.ts";

// What a parser lets through, PostgreSQL must take: whatever stands in a batch, no statement fails.

let database: TestDatabase;
let shipment: string;
let rows: string[];
beforeAll(async () => {
  database = await createDatabase();
  shipment = await registerShipment(database, ["buyer", "merchant"]);
  await recordEvents(database.ledger, [
    { id: "E-1", shipmentId: shipment, status: "customs_hold", occurredAt: new Date().toISOString() },
  ]);
  rows = (await database.sql<{ id: string }[]>`SELECT id FROM owed.notification`).map(({ id }) => id);
});
afterAll(() => database.drop());

/** Batches as a queue hands them out. */
const batches = (valid: fc.Arbitrary<unknown>) =>
  fc
    .array(written(mutated(valid)), { minLength: 10, maxLength: 10 })
    .map((bodies) => bodies.map((body) => recordOf(body)));

test("any batch of events ends: recorded, refused and kept byte by byte, or waiting for its shipment", async () => {
  const seen = tally("recorded", "repeated", "refused", "postponed");
  const event = fc
    .record({
      id: fc.constantFrom("E-1", "E-2", "E:3", "E-4", "E-5"),
      shipment_id: fc.constantFrom(shipment, shipment, shipment, "S-unknown"),
      status: fc.constantFrom("customs_hold", "customs_hold", "out_for_delivery", "never_heard_of"),
      occurred_at: fc.constantFrom(
        "2026-03-29T09:30:00Z",
        "1970-01-01T00:00:00.123456789+15:59",
        "9999-12-31T23:59:59.9999999-15:59",
      ),
      note: anyText,
    })
    .map((detail) => envelope(detailOf(detail)));
  await fc.assert(
    fc.asyncProperty(batches(event), async (records) => {
      const errors: string[] = [];
      const { ledger } = database;
      const { disposals, counts } = await ingest(
        { ledger, remaining: () => 30, onError: (message) => errors.push(message), ...withoutQueue },
        records,
      );
      expect(disposals.size).toBe(records.length);
      expect(new Set(errors)).toEqual(
        new Set(counts.postponed ? ["an event comes again: its shipment is not known yet"] : []),
      );
      for (const kind of ["recorded", "repeated", "refused", "postponed"] as const)
        for (let times = counts[kind]; times > 0; times -= 1) seen.count(kind);
      const kept = new Map(
        (
          await database.sql<{ message_id: string; body: Buffer }[]>`
        SELECT message_id, body FROM owed.refused_event WHERE message_id = ANY(${records.map(({ messageId }) => messageId)})`
        ).map((row) => [row.message_id, row.body]),
      );
      expect(kept.size).toBe(counts.refused);
      for (const { messageId, body } of records)
        if (kept.has(messageId))
          expect(kept.get(messageId)?.equals(Buffer.from(body).subarray(0, 65_536))).toBe(true);
    }),
    { numRuns: 40 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(0);
  expect((await listRefusedEvents(database.ledger, 10)).length).toBe(10);
});

test("any batch of the provider's events is weighed, ignored, or waits for its row", async () => {
  const seen = tally("proven", "known", "gone", "ignored");
  const event = fc
    .record({
      id: fc.constantFrom(...rows, randomUUID()),
      event: fc.constantFrom(
        { eventType: "Send" },
        { eventType: "Delivery" },
        { eventType: "Bounce", bounce: bounceOf("Permanent", "General") },
      ),
      messageId: fc.constantFrom("m-1", "m-2", "~".repeat(256)),
      timestamp: fc.constantFrom(
        "2026-03-29T09:30:00Z",
        "1970-01-01t00:00:00.123456789+15:59",
        "9999-12-31T23:59:59.9999999-15:59",
      ),
    })
    .map(({ id, event, ...mail }) => sesEvent(id, { ...mail, ...event }));
  await fc.assert(
    fc.asyncProperty(batches(event), async (records) => {
      const { disposals, counts } = await feedback(
        {
          ledger: database.ledger,
          onError: (message) => expect(message).toMatch(/^a provider event was ignored: [ -~]{5,80}$/),
        },
        records,
      );
      expect(disposals.size).toBe(records.length);
      for (const kind of ["proven", "known", "gone", "ignored"] as const)
        for (let times = counts[kind]; times > 0; times -= 1) seen.count(kind);
    }),
    { numRuns: 40 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(0);
});

test("any batch of messages can be claimed or is answered, one by one", async () => {
  const seen = tally("gone", "stale", "done");
  const message = fc.record({
    id: fc.constantFrom(
      ...rows,
      randomUUID(),
      "00000000-0000-0000-0000-000000000000",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ),
    generation: fc.constantFrom(-0, 0, 0, 7, 2 ** 31 - 1),
  });
  await fc.assert(
    fc.asyncProperty(batches(message), async (records) => {
      const asked = records.flatMap(({ body, messageId }) => {
        const parsed = parseMessage(body);
        return parsed ? [{ ...parsed, messageId, sentAt: Date.now() }] : [];
      });
      const verdicts = await claim(database.ledger, defaultDurations, asked);
      expect(verdicts).toHaveLength(asked.length);
      for (const { verdict } of verdicts)
        if (verdict === "gone" || verdict === "stale" || verdict === "done") seen.count(verdict);
    }),
    { numRuns: 40 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(0);
});

test("any text that the platform hands over is taken, or refused by its field and unquoted", async () => {
  const seen = tally("taken", "refused", "NUL");
  const id = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("S-1", "a:b", "x".repeat(64)) },
    { weight: 1, arbitrary: anyText },
  );
  const text = fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom("Ana", "ana@example.org") },
    { weight: 1, arbitrary: anyText },
  );
  const locale = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("en", "de-AT") },
    { weight: 1, arbitrary: anyText },
  );
  await fc.assert(
    fc.asyncProperty(
      id,
      id,
      text,
      text,
      id,
      text,
      text,
      locale,
      async (shipmentId, merchant, shop, parcel, who, address, name, tag) => {
        try {
          await database.sql`SELECT owed.register_shipment(${shipmentId}, ${merchant}, ${shop}, ${parcel})`;
          await database.sql`SELECT owed.subscribe(${shipmentId}, ${who}, 'buyer', 'email', ${address}, ${name}, ${tag})`;
          seen.count("taken");
        } catch (error) {
          const { code, message = "" } = error as { code?: string; message?: string };
          // PostgreSQL's own word for a text with NUL in it, which quotes no more than that.
          seen.count(code === "22021" ? "NUL" : "refused");
          expect(code === "22021" ? message : code).toMatch(
            /^(OW003|invalid byte sequence for encoding "UTF8": 0x00)$/,
          );
          if (code === "OW003")
            expect(message).toMatch(
              /^(shipment_id|merchant_id|merchant_name|tracking_number|recipient_id|address|name|locale) (must be|is not) [ -~]{5,80}$/,
            );
        }
      },
    ),
    { numRuns: 300 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(3);
});
