import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { proofOf } from "../testing/act.ts";
import { empty, newRow, readRow } from "../testing/rows.ts";
import { type Proof, recordEvidence } from "./record-evidence.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => empty(database));
afterAll(() => database.drop());

const weigh = async (id: string, more: Partial<Proof>) =>
  (await recordEvidence(database.ledger, [proofOf(id, more)]))[0];
const second = { providerMessageId: "P-2", suppress: true };

describe("what the provider says of another message of a delivered row", () => {
  test("is not the row's reason, when it is of the same outcome", async () => {
    const id = await newRow(database, "delivered");
    await weigh(id, { ...second, suppress: false, detail: "delayed: MailboxFull" });
    expect(await readRow(database, id)).toMatchObject({ outcome: "accepted", reason: null });
  });

  test("takes no address out of use by a bounce: it may have gone to one that was corrected since", async () => {
    const id = await newRow(database, "delivered");
    expect(await weigh(id, { ...second, outcome: "bounced" })).toMatchObject({
      duplicate: true,
      suppressed: false,
    });
    expect(await readRow(database, id)).toMatchObject({ outcome: "accepted" });
  });

  test("but does by a complaint: the recipient does not want to be written to", async () => {
    const id = await newRow(database, "delivered");
    expect(await weigh(id, { ...second, outcome: "complained" })).toMatchObject({
      duplicate: true,
      suppressed: true,
    });
    expect(await readRow(database, id)).toMatchObject({ outcome: "complained" });
  });
});

test.each([
  ["sms", "buyer@example.com"],
  ["email", "other@example.com"],
])("what was lifted on %s for %s says nothing of another channel or address", async (channel, address) => {
  const id = await newRow(database, "delivered");
  await database.sql`
    INSERT INTO owed.suppression (channel, address, cause, notification_id, lifted_at, lifted_by, lifted_why)
    VALUES (${channel}, ${address}, 'bounced', ${id}, now(), 'ann', 'a mistake')`;
  const at = new Date(Date.now() - 60_000).toISOString();
  expect(await weigh(id, { outcome: "bounced", suppress: true, at })).toMatchObject({ suppressed: true });
});
