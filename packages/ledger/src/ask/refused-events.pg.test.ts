import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { keepRefusedEvent } from "../event/keep-refused-event.ts";
import { listRefusedEvents } from "./refused-events.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test("refused events are listed newest first, up to a limit, byte for byte", async () => {
  for (const messageId of ["M-1", "M-2", "M-3"])
    await keepRefusedEvent(database.ledger, {
      messageId,
      field: "status",
      reason: "is not a known status",
      body: `{"n":"${messageId}"}`,
    });
  const events = await listRefusedEvents(database.ledger, 2);
  expect(events.map(({ body }) => body.toString())).toEqual(['{"n":"M-3"}', '{"n":"M-2"}']);
  expect(events[0]).toMatchObject({
    field: "status",
    reason: "is not a known status",
    bytes: 11,
    refusedAt: expect.any(Date),
  });
});
