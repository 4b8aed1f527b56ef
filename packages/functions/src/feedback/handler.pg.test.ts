import { randomUUID } from "node:crypto";
import { createSesClient, emailChannel } from "@owed/channel";
import { claim, defaultDurations as durations } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLambda, type TestLambda } from "../testing/lambda.ts";
import { captureOutput, type Output } from "../testing/output.ts";
import { empty, oweAndQueue, readRow } from "../testing/rows.ts";
import { recipient, sesEvent } from "../testing/ses-events.ts";
import { until } from "../testing/until.ts";

let lambda: TestLambda;
let handler: typeof import("./handler.ts").handler;
let output: Output;
beforeAll(async () => {
  lambda = await startLambda();
  ({ handler } = await import("./handler.ts"));
  output = captureOutput();
});
beforeEach(() => empty(lambda.database));
afterEach(() => {
  lambda.gate.open();
  lambda.sqs.faults.clear();
  output.clear();
});
afterAll(async () => {
  output.restore();
  await lambda.stop();
});

const put = (event: unknown) =>
  lambda.sqs.send(lambda.queues.feedback.url, { MessageBody: JSON.stringify(event) });
const consume = () => lambda.consume("feedback", handler);

async function aSendingRow(): Promise<string> {
  const [row] = await oweAndQueue(lambda.database, 1);
  const { id = "", generation = 0 } = row ?? {};
  await claim(lambda.database.ledger, durations, [{ id, generation, messageId: "M-1", sentAt: Date.now() }]);
  return id;
}

test("its handler is none of the callback style, which Node 24 on Lambda refuses", () => {
  expect(handler.length).toBeLessThanOrEqual(2);
});

test("the event that SES itself emits delivers the row whose worker never recorded it", async () => {
  const id = await aSendingRow();
  const client = createSesClient();
  const email = { client, from: "updates@owed.example", configurationSet: null, timeoutMs: 10_000 };
  const sent = await emailChannel(email).send(
    {
      ...{ notificationId: id, template: "customs_hold", role: "buyer", locale: "en", timeZone: null },
      ...{ address: "ana@example.org", name: "Ana" },
      shipment: { id: "S-1", trackingNumber: "T-1", status: "customs_hold", occurredAt: new Date() },
      merchant: { id: "M-1", name: "Shop", trackingUrl: null },
    },
    {},
  );
  client.destroy();
  const providerMessageId = sent.outcome === "accepted" ? sent.providerMessageId : sent.reason;
  await until(() => expect(lambda.sesEvents).toHaveLength(1));
  await put(lambda.sesEvents[0]);
  expect((await consume()).failed).toEqual([]);
  expect(await readRow(lambda.database, id)).toMatchObject({
    state: "delivered",
    evidence: "feedback",
    provider_message_id: providerMessageId,
  });
  expect(output.text()).not.toContain("ana@example.org");
});

test("a batch of all kinds: metrics and logs say so, without addresses", async () => {
  const id = await aSendingRow();
  await put(sesEvent(id, { eventType: "Bounce" }));
  await put(sesEvent(id, { eventType: "Complaint" }));
  await put(sesEvent(id, { source: "ana@example.org" }));
  await put("ana@example.org");
  const unheard = await put(sesEvent(randomUUID()));
  const { received, failed } = await consume();
  expect([received.length, failed]).toEqual([5, [unheard]]);
  expect(output.metrics()).toEqual({
    service: "feedback",
    names: {
      messages: "Count",
      proven: "Count",
      known: "Count",
      gone: "Count",
      heard: "Count",
      ignored: "Count",
      duplicate: "Count",
      bounced: "Count",
      complained: "Count",
      suppressed: "Count",
    },
    values: {
      ...{ messages: 5, proven: 1, known: 1, gone: 1, heard: 0, ignored: 2, duplicate: 1 },
      ...{ bounced: 1, complained: 1, suppressed: 1 },
    },
  });
  expect(output.lines().flatMap(({ message = [] }) => message)).toEqual([
    "a provider event was ignored: its source is not that of an SES event",
    "a provider event was ignored: its body is not that of an SES event",
  ]);
  expect(output.text()).not.toContain(recipient);
});

test("the database away: the events come again", async () => {
  const id = await aSendingRow();
  const sent = await put(sesEvent(id));
  lambda.gate.shut();
  expect((await consume()).failed).toEqual([sent]);
  expect(output.lines().filter(({ level }) => level)).toMatchObject([
    {
      level: "WARN",
      message: "provider events come again: the ledger does not answer",
      error: { name: "LedgerUnavailable" },
    },
  ]);
});
