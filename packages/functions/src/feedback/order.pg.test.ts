import { defaultDurations as durations, record } from "@owed/ledger";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { acknowledged } from "../testing/disposals.ts";
import {
  about,
  accepted,
  aSendingRow,
  aTime,
  deliveredAt,
  none,
  readSuppressions,
  weigh,
} from "../testing/feedbacks.ts";
import { empty, readRow, readTries } from "../testing/rows.ts";
import { answerOf, bounceOf, complaintOf } from "../testing/ses-events.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

type Kind = { outcome: number; suppress: boolean; more: Record<string, unknown> };
const outcomes = ["accepted", "arrived", "bounced", "complained"];
const kind = (outcome: number, suppress: boolean, more: Record<string, unknown>): Kind => ({
  outcome,
  suppress,
  more,
});
const kinds = [
  kind(0, false, { eventType: "Send" }),
  kind(0, false, { eventType: "DeliveryDelay" }),
  kind(0, false, { eventType: "Bounce", bounce: answerOf("Transient", "General") }),
  kind(1, false, { eventType: "Delivery" }),
  kind(2, false, { eventType: "Bounce", bounce: bounceOf("Transient", "MailboxFull") }),
  kind(2, false, { eventType: "Reject" }),
  kind(2, true, { eventType: "Bounce" }),
  kind(2, true, { eventType: "Bounce", bounce: bounceOf("Permanent", "OnAccountSuppressionList") }),
  kind(3, false, { eventType: "Complaint", complaint: complaintOf("not-spam") }),
  kind(3, true, { eventType: "Complaint" }),
];

test("in whatever order and however often events come: delivered once, the gravest outcome stands, suppressed once", async () => {
  const batches = fc.array(fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(batches, fc.boolean(), async (given, recordedFirst) => {
      await empty(database);
      const { id, token } = await aSendingRow(database);
      if (recordedFirst) await record(database.ledger, durations, [{ id, token, outcome: accepted }]);
      const total = { ...none };
      for (const batch of given) {
        const { counts, disposals } = await weigh(
          database.ledger,
          batch.map(({ more }) => about(id, more)),
        );
        expect(disposals).toEqual(batch.map(() => acknowledged));
        for (const name of Object.keys(none) as (keyof typeof none)[]) total[name] += counts[name];
      }
      const all = given.flat();
      const suppressed = all.some(({ suppress }) => suppress) ? 1 : 0;
      expect(total).toEqual({
        ...none,
        proven: recordedFirst ? 0 : 1,
        known: all.length - (recordedFirst ? 0 : 1),
        bounced: all.filter(({ outcome }) => outcome === 2).length,
        complained: all.filter(({ outcome }) => outcome === 3).length,
        suppressed,
      });
      expect(await readRow(database, id)).toMatchObject({
        state: "delivered",
        evidence: recordedFirst ? "reply" : "feedback",
        outcome: outcomes[Math.max(...all.map(({ outcome }) => outcome))],
        provider_message_id: "P-1",
      });
      expect(await readSuppressions(database)).toHaveLength(suppressed);
      expect(await readTries(database, id)).toEqual([]);
    }),
    { numRuns: 20 },
  );
});

test("a batch of events about one row has one end, however the queue has mixed it", async () => {
  const event = fc.record({
    kind: fc.constantFrom(...kinds),
    messageId: fc.constantFrom("P-1", "P-2"),
    timestamp: fc.constantFrom(aTime, "2026-03-29T10:30:00.123+01:00", "2026-03-29T09:30:00.124Z"),
  });
  const mixed = fc
    .array(event, { minLength: 2, maxLength: 10 })
    .chain((batch) =>
      fc.tuple(
        fc.constant(batch),
        fc.shuffledSubarray(batch, { minLength: batch.length, maxLength: batch.length }),
      ),
    );
  await fc.assert(
    fc.asyncProperty(mixed, async (orders) => {
      const ends: unknown[] = [];
      for (const batch of orders) {
        await empty(database);
        const { id } = await aSendingRow(database);
        const { counts } = await weigh(
          database.ledger,
          batch.map(({ kind, messageId, timestamp }) => about(id, { ...kind.more, messageId, timestamp })),
        );
        const { outcome, reason, provider_message_id } = await readRow(database, id);
        const [suppression] = await readSuppressions(database);
        ends.push({
          ...{ counts, outcome, reason, provider_message_id, deliveredAt: await deliveredAt(database, id) },
          ...{ cause: suppression?.cause, detail: suppression?.detail },
        });
      }
      expect(ends[1]).toEqual(ends[0]);
    }),
    { numRuns: 20 },
  );
});
