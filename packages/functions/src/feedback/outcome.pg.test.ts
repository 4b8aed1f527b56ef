import { defaultDurations as durations, record } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import {
  about,
  accepted,
  aDeliveredRow,
  aSendingRow,
  aTime,
  deliveredAt,
  none,
  readSuppressions,
  weigh,
} from "../testing/feedbacks.ts";
import { empty, readRow } from "../testing/rows.ts";
import { answerOf, bounceOf, complaintOf } from "../testing/ses-events.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

describe("what became of a delivered notification", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, Partial<typeof none>]>([
    ["Send", {}, { outcome: "accepted", reason: null }, {}],
    ["DeliveryDelay", {}, { outcome: "accepted", reason: "delayed: MailboxFull" }, {}],
    ["Delivery", {}, { outcome: "arrived", reason: null }, {}],
    ["Bounce", {}, { outcome: "bounced", reason: "Permanent: General" }, { bounced: 1, suppressed: 1 }],
    [
      "Bounce",
      { bounce: bounceOf("Transient", "MailboxFull") },
      { outcome: "bounced", reason: "Transient: MailboxFull" },
      { bounced: 1 },
    ],
    [
      "Bounce",
      { bounce: answerOf("Transient", "General") },
      { outcome: "accepted", reason: "Transient: General" },
      {},
    ],
    ["Reject", {}, { outcome: "bounced", reason: "rejected: Bad content" }, { bounced: 1 }],
    [
      "Complaint",
      {},
      { outcome: "complained", reason: "complaint: abuse" },
      { complained: 1, suppressed: 1 },
    ],
    [
      "Complaint",
      { complaint: complaintOf("not-spam") },
      { outcome: "complained", reason: "complaint: not-spam" },
      { complained: 1 },
    ],
  ])("%s %#", async (eventType, more, row, counted) => {
    const id = await aDeliveredRow(database);
    const { counts } = await weigh(database.ledger, [about(id, { eventType, ...more })]);
    expect(counts).toEqual({ ...none, known: 1, ...counted });
    expect(await readRow(database, id)).toMatchObject({ state: "delivered", evidence: "reply", ...row });
    const { outcome: cause, reason: detail } = row;
    const expected = counted.suppressed ? [{ id, address: "buyer1@example.com", cause, detail }] : [];
    expect(await readSuppressions(database)).toEqual(expected);
  });

  test("an automatic answer takes nothing from an arrival, whichever comes first", async () => {
    for (const order of [0, 1]) {
      const id = await aDeliveredRow(database);
      const events = [
        about(id, { eventType: "Delivery" }),
        about(id, { eventType: "Bounce", bounce: answerOf("Undetermined", "Undetermined", []) }),
      ];
      for (const event of order ? events.toReversed() : events) await weigh(database.ledger, [event]);
      expect(await readRow(database, id)).toMatchObject({ outcome: "arrived", reason: null });
    }
  });

  test("a bounce that says so before the worker could: delivered, bounced and suppressed at once", async () => {
    const { id, token } = await aSendingRow(database);
    const { counts } = await weigh(database.ledger, [about(id, { eventType: "Bounce" })]);
    expect(counts).toEqual({ ...none, proven: 1, bounced: 1, suppressed: 1 });
    await record(database.ledger, durations, [{ id, token, outcome: accepted }]);
    expect(await readRow(database, id)).toMatchObject({ outcome: "bounced", reason: "Permanent: General" });
    expect(await deliveredAt(database, id)).toBe(aTime);
  });
});
