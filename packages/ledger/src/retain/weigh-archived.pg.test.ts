import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { show } from "../ask/show.ts";
import { recordEvidence } from "../deliver/record-evidence.ts";
import { proofOf } from "../testing/act.ts";
import { passDays, retainAll, startRound, whereRowsAre } from "../testing/retention.ts";
import { type Columns, empty, newRow, type Shape } from "../testing/rows.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  await empty(database);
  await database.sql`TRUNCATE owed.notification_archive`;
});
afterAll(() => database.drop());

const archived = async (shape: Shape, columns: Columns = {}) => {
  const id = await newRow(database, shape, columns);
  await passDays(database, 91);
  await startRound(database);
  await retainAll(database);
  expect((await whereRowsAre(database)).archived).toEqual([id]);
  return id;
};

test("a complaint takes the address out of use, and the row keeps it", async () => {
  const id = await archived("delivered", { sent_to: "'old@example.com'" });
  const complaint = proofOf(id, { outcome: "complained", suppress: true, detail: "abuse" });
  expect(await recordEvidence(database.ledger, [complaint])).toEqual([
    { id, result: "known", duplicate: false, suppressed: true },
  ]);
  expect(await show(database.ledger, id)).toMatchObject({
    state: "delivered",
    outcome: "complained",
    reason: "abuse",
  });
  expect(await database.sql`SELECT address, notification_id AS id FROM owed.suppression`).toEqual([
    { address: "old@example.com", id },
  ]);
  expect(await recordEvidence(database.ledger, [complaint])).toMatchObject([
    { result: "known", suppressed: false },
  ]);
});

test("what had died was sent after all", async () => {
  const id = await archived("dead");
  expect(await recordEvidence(database.ledger, [proofOf(id)])).toMatchObject([{ result: "proven" }]);
  expect(await show(database.ledger, id)).toMatchObject({
    ...{ state: "delivered", evidence: "feedback", outcome: "accepted", stoppedAt: null },
  });
});

test("another message of it is a duplicate, counted once", async () => {
  const id = await archived("delivered");
  const other = proofOf(id, { providerMessageId: "P-2" });
  expect(await recordEvidence(database.ledger, [other])).toMatchObject([{ duplicate: true }]);
  await recordEvidence(database.ledger, [other]);
  expect((await show(database.ledger, id)).tries.map(({ kind }) => kind)).toEqual(["duplicate"]);
});

test("nobody moves an archived notification from its end", async () => {
  const id = await archived("delivered");
  await expect(
    database.sql`UPDATE owed.notification_archive SET delivered_at = now() WHERE id = ${id}`,
  ).rejects.toThrow("stays so");
});
