import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { waitsForLock } from "../testing/race.ts";
import { newRow, readRow, type Shape } from "../testing/rows.ts";
import { recordEvidence } from "./record-evidence.ts";

// The provider's event often comes while the worker records the same acceptance: it waits for the row's lock, and
// then finds another row than the one its statement began with.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const ends: [Shape, string, string][] = [
  [
    "sending",
    "delivered",
    "delivered_at = now(), evidence = 'reply', outcome = 'accepted', provider_message_id = 'P-1'",
  ],
  ["queued", "cancelled", "cancelled_at = now(), reason = 'expired'"],
];

test.each(ends)("evidence for a %s row that becomes %s while it waits", async (shape, state, set) => {
  const { ledger, sql } = database;
  const id = await newRow(database, shape);
  const proof = {
    id,
    at: null,
    provider: "ses",
    providerMessageId: "P-1",
    outcome: "accepted",
    detail: null,
    suppress: false,
    evidence: "feedback",
    queuedAt: null,
  } as const;
  const other = await sql.reserve();
  await other`BEGIN`;
  await other.unsafe(
    `UPDATE owed.notification SET state = '${state}', owed_at = NULL, ${set} WHERE id = '${id}'`,
  );
  const weighed = recordEvidence(ledger, [{ ...proof, outcome: "arrived" }]);
  await waitsForLock(sql, 1, 1000);
  await other`COMMIT`;
  other.release();
  expect(await weighed).toEqual([{ id, result: "known", duplicate: false, suppressed: false }]);
  expect(await readRow(database, id)).toMatchObject({
    state,
    outcome: "arrived",
    provider_message_id: "P-1",
  });
});
