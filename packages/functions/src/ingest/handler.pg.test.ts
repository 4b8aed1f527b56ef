import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import { bodyOf } from "../testing/events.ts";
import { startLambda, type TestLambda } from "../testing/lambda.ts";
import { captureOutput, type Output } from "../testing/output.ts";

let lambda: TestLambda;
let handler: typeof import("./handler.ts").handler;
let output: Output;
beforeAll(async () => {
  lambda = await startLambda();
  ({ handler } = await import("./handler.ts"));
  output = captureOutput();
});
afterEach(() => {
  lambda.gate.open();
  lambda.sqs.faults.clear();
  output.clear();
});
afterAll(async () => {
  output.restore();
  await lambda.stop();
});

const put = (body: string) => lambda.sqs.send(lambda.queues.event.url, { MessageBody: body });
const consume = () => lambda.consume("event", handler);

test("its handler is none of the callback style, which Node 24 on Lambda refuses", () => {
  expect(handler.length).toBeLessThanOrEqual(2);
});

test("a batch from the queue: recorded, refused, postponed; metrics and logs say so, without the events' content", async () => {
  const shipment = await registerShipment(lambda.database);
  const own = (more: object = {}) => bodyOf({ shipment_id: shipment, note: "ana@example.org", ...more });
  const repeated = own({ id: "E-1" });
  for (const body of [repeated, repeated, own({ status: "ana" }), "ana@example.org"]) await put(body);
  const strange = await put(bodyOf({ shipment_id: "S-none" }));
  const changes = lambda.calls("ChangeMessageVisibilityBatch");
  const { received, failed } = await consume();
  expect(received).toHaveLength(5);
  expect(failed).toEqual([strange]);
  expect(changes.map(({ request }) => request.Entries)).toEqual([
    [expect.objectContaining({ VisibilityTimeout: 30 })],
  ]);
  expect(output.metrics()).toEqual({
    service: "ingest",
    names: {
      messages: "Count",
      recorded: "Count",
      repeated: "Count",
      refused: "Count",
      notifications: "Count",
      postponed: "Count",
      published: "Count",
      failed: "Count",
    },
    values: {
      messages: 5,
      recorded: 1,
      repeated: 1,
      refused: 2,
      notifications: 2,
      postponed: 1,
      published: 0,
      failed: 0,
    },
  });
  expect(output.lines().filter(({ level }) => level)).toMatchObject([
    {
      level: "WARN",
      service: "ingest",
      message: "an event comes again: its shipment is not known yet",
      function_request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    },
  ]);
  expect(output.text()).not.toMatch(/ana/);
});

test("the database away: the whole batch fails with a visibility; back again, nothing is lost", async () => {
  const shipment = await registerShipment(lambda.database);
  const sent = [await put(bodyOf({ shipment_id: shipment })), await put("{")];
  const changes = lambda.calls("ChangeMessageVisibilityBatch");
  lambda.gate.shut();
  const { failed } = await consume();
  expect(failed.toSorted()).toEqual(sent.toSorted());
  const entries = changes.flatMap(({ request }) => request.Entries as { VisibilityTimeout: number }[]);
  expect(entries.map(({ VisibilityTimeout }) => VisibilityTimeout)).toEqual([10, 10]);
  expect(output.metrics().values).toMatchObject({ messages: 2, postponed: 2, recorded: 0 });
  lambda.gate.open();
  for (const body of [bodyOf({ shipment_id: shipment }), "{"]) await put(body);
  expect((await consume()).failed).toEqual([]);
});

test("an empty batch is no error", async () => {
  expect(await consume()).toEqual({ received: [], failed: [] });
});
