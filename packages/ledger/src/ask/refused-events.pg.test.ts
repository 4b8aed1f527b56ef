import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { keepRefusedEvent } from "../event/keep-refused-event.ts";
import { markRetried } from "../operate/mark-retried.ts";
import { listRefusedEvents } from "./refused-events.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test("refused events are listed newest first, up to a limit, byte for byte, with their queue and who gave them back to it", async () => {
  for (const messageId of ["M-1", "M-2", "M-3"])
    await keepRefusedEvent(database.ledger, {
      messageId,
      queue: messageId === "M-2" ? "feedback" : "event",
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
    queue: "event",
    retriedAt: null,
    retriedBy: null,
    refusedAt: expect.any(Date),
  });

  const [, second] = events;
  await markRetried(database.ledger, [second?.id ?? ""], "ann");
  await markRetried(database.ledger, [], "bob");
  expect(await listRefusedEvents(database.ledger, 10)).toMatchObject([
    { retriedAt: null, retriedBy: null },
    { queue: "feedback", retriedAt: expect.any(Date), retriedBy: "ann" },
    { retriedAt: null, retriedBy: null },
  ]);
});
