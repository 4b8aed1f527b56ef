import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { makeHistory } from "./history.ts";
import { pickSubjects, questions } from "./questions.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test("each kind of question is answered, about the archive and what waits too", async () => {
  const { ledger } = database;
  const archived = await makeHistory(ledger, { rows: 400, archived: 80 });
  expect(archived).toBeGreaterThanOrEqual(80);
  const subjects = await pickSubjects(ledger, 20);
  expect(subjects).toHaveLength(20);
  const [subject] = subjects;
  if (!subject) throw new Error("nobody was picked");
  for (const ask of Object.values(questions)) expect(await ask(ledger, subject)).toBeTruthy();
  const nobody = { shipmentId: "S-none", recipientId: "nobody", id: subject.id };
  await expect(questions["a shipment"]?.(ledger, nobody)).rejects.toThrow("has nothing");
});
