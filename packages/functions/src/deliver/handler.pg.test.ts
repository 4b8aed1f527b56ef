import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { happen, owe, registerShipment } from "../../../../tests/support/shipment.ts";
import { contextOf, startLambda, type TestLambda } from "../testing/lambda.ts";
import { captureOutput, type Output } from "../testing/output.ts";
import { countStates, empty } from "../testing/rows.ts";
import { until } from "../testing/until.ts";

let lambda: TestLambda;
let handler: typeof import("./handler.ts").handler;
let sweep: typeof import("../sweep/handler.ts").handler;
let output: Output;
beforeAll(async () => {
  lambda = await startLambda();
  ({ handler } = await import("./handler.ts"));
  ({ handler: sweep } = await import("../sweep/handler.ts"));
  output = captureOutput();
});
afterEach(async () => {
  lambda.gate.open();
  lambda.ses.faults.clear();
  lambda.ses.clear();
  lambda.sqs.faults.clear();
  await lambda.purge(lambda.queues.notification.url);
  await empty(lambda.database);
});
afterAll(async () => {
  output.restore();
  await lambda.stop();
});

const consume = () => lambda.consume("notification", handler);
const sweepNow = async () => {
  await sweep({}, contextOf("sweep", 60));
  output.clear();
};
/** A buyer whose name and address must not be seen in any log. */
async function oweAna(): Promise<void> {
  const shipment = await registerShipment(lambda.database, []);
  await lambda.database.sql`
    SELECT owed.subscribe(${shipment}, 'buyer-1', 'buyer', 'email', 'ana.secret@example.org', 'Ana Hidden', 'de')`;
  await happen(lambda.database, shipment, "out_for_delivery");
}
const secrets = /ana|hidden|secret|Paket/i;
const entriesOf = (calls: { request: unknown }[]) =>
  calls.flatMap(({ request }) => (request as { Entries: { VisibilityTimeout: number }[] }).Entries);

test("its handler is none of the callback style, which Node 24 on Lambda refuses", () => {
  expect(handler.length).toBeLessThanOrEqual(2);
});

test("messages from the queue become emails, each once; metrics say so, and no log tells to whom", async () => {
  await owe(lambda.database, 4);
  await oweAna();
  await sweepNow();
  const { received, failed } = await consume();
  expect([received.length, failed]).toEqual([5, []]);
  expect(await countStates(lambda.database)).toEqual({ delivered: 5 });
  expect(lambda.ses.sent.map(({ to }) => to[0]).toSorted()).toEqual([
    expect.stringContaining("ana.secret@example.org"),
    ...[1, 2, 3, 4].map((n) => `buyer${n}@example.com`),
  ]);
  const ids = received.map(({ Body = "" }) => JSON.parse(Body).id);
  expect(lambda.ses.sent.map(({ tags }) => tags.notification).toSorted()).toEqual(ids.toSorted());
  expect(output.metrics()).toEqual({
    service: "deliver",
    names: { messages: "Count", claimed: "Count", accepted: "Count" },
    values: { messages: 5, claimed: 5, accepted: 5 },
  });
  expect(output.text()).not.toMatch(secrets);
});

test("refused: its message comes at once until it is in the dead-letter queue, and no provider is called for it", async () => {
  await oweAna();
  await sweepNow();
  lambda.ses.faults.add(() => ({
    error: {
      status: 400,
      code: "MessageRejected",
      message: "ana.secret@example.org is on the suppression list",
    },
  }));
  const calls: unknown[] = [];
  lambda.ses.faults.add((email) => {
    calls.push(email);
    return undefined;
  });
  const changes = lambda.calls("ChangeMessageVisibilityBatch");
  for (let receive = 1; receive <= 5; receive += 1) {
    const { received, failed } = await consume();
    expect(failed).toEqual([received[0]?.MessageId]);
  }
  expect(entriesOf(changes).map(({ VisibilityTimeout }) => VisibilityTimeout)).toEqual([0, 0, 0, 0, 0]);
  expect(output.metrics().values).toEqual({ messages: 5, claimed: 1, refused: 1, dying: 4 });
  expect((await consume()).received).toEqual([]);
  const dead = await lambda.sqs.receive(lambda.queues.notification.deadLetters.url);
  expect(dead).toHaveLength(1);
  expect(await countStates(lambda.database)).toEqual({ dead: 1 });
  expect(output.text()).not.toMatch(secrets);
});

test("no answer from the provider: unknown, acknowledged, and not sent a second time", async () => {
  await oweAna();
  await sweepNow();
  lambda.ses.faults.add(() => ({ drop: "after" }));
  expect((await consume()).failed).toEqual([]);
  expect(await countStates(lambda.database)).toEqual({ unknown: 1 });
  expect(lambda.ses.sent).toHaveLength(1);
  expect((await consume()).received).toEqual([]);
});

test("a row that the database refuses to record: its error is logged, not what the row holds", async () => {
  await oweAna();
  await sweepNow();
  await lambda.database.sql`
    ALTER TABLE owed.notification ADD CONSTRAINT none_delivered CHECK (state <> 'delivered')`;
  const consumed = consume();
  await until(() => expect(output.text()).toContain("none_delivered"));
  await lambda.database.sql`ALTER TABLE owed.notification DROP CONSTRAINT none_delivered`;
  expect((await consumed).failed).toEqual([]);
  expect(await countStates(lambda.database)).toEqual({ delivered: 1 });
  const errors = output.lines().filter(({ level }) => level === "ERROR");
  expect(errors.length).toBeGreaterThan(0);
  expect(errors[0]).toMatchObject({ error: { code: "23514" } });
  expect(output.text()).not.toMatch(secrets);
});

test("the database away: nothing is sent, and the messages come again after the queue's own time", async () => {
  await oweAna();
  await sweepNow();
  const changes = lambda.calls("ChangeMessageVisibilityBatch");
  lambda.gate.shut();
  expect((await consume()).failed).toHaveLength(1);
  expect(changes).toEqual([]);
  expect(lambda.ses.sent).toEqual([]);
});

test("a message that nobody of ours has sent is acknowledged and logged by its id", async () => {
  const sent = await lambda.sqs.send(lambda.queues.notification.url, {
    MessageBody: "ana.secret@example.org",
    MessageGroupId: "g",
    MessageDeduplicationId: "d",
  });
  output.clear();
  expect((await consume()).failed).toEqual([]);
  expect(output.metrics().values).toEqual({ messages: 1, malformed: 1 });
  expect(output.lines().filter(({ level }) => level)).toMatchObject([
    {
      level: "ERROR",
      message: "a message that is not a notification's was acknowledged",
      error: { message: sent },
    },
  ]);
  expect(output.text()).not.toMatch(secrets);
});
