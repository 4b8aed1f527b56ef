import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { createWorld, deliverAs, idsOf, type World } from "../testing.ts";

let world: World;
let shipment: string;
/** Dead by their own fault, dead by the provider's, delivered. */
let invalid: string;
let away: string;
let done: string;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

beforeEach(async () => {
  shipment = await registerShipment(world.db, ["buyer", "merchant", "agent"]);
  await happen(world.db, shipment, "delivery_exception");
  [invalid = "", away = "", done = ""] = await idsOf(world, shipment);
  await deliverAs(world, invalid, { kind: "refused", reason: "InvalidAddress: address has a space" });
  await deliverAs(world, away, { kind: "exhausted", reason: "ServiceUnavailable: try later" });
  await deliverAs(world, done, { kind: "accepted", provider: "ses", providerMessageId: `0100-${done}` });
  for (const id of [invalid, away])
    await world.sqs.send(deadLetters(), {
      MessageBody: JSON.stringify({ id, generation: 0 }),
      MessageGroupId: id,
      MessageDeduplicationId: id,
    });
});

/** What a test left behind is not another one's. */
afterEach(async () => {
  await emptyDeadLetters();
  await world.db.sql`
    UPDATE owed.notification SET state = 'cancelled', cancelled_at = now(), reason = 'the end of the test', owed_at = NULL, died_at = NULL, stopped_at = NULL
    WHERE state <> 'delivered'`;
});

const deadLetters = () => world.queues.notification.deadLetters.url;

const stateOf = async (id: string) => {
  const [row] = await world.db.sql`SELECT state, generation FROM owed.notification WHERE id = ${id}`;
  return { ...row };
};

/** The ids in the dead-letter queue, which are removed from it. */
async function emptyDeadLetters(): Promise<string[]> {
  const ids: string[] = [];
  for (
    let some = await world.sqs.receive(deadLetters());
    some.length > 0;
    some = await world.sqs.receive(deadLetters())
  )
    for (const message of some) {
      ids.push(JSON.parse(message.Body ?? "").id);
      await world.sqs.remove(deadLetters(), message);
    }
  return ids.toSorted();
}

test("by id: owed again, with who and why, and its message is gone from the dead-letter queue", async () => {
  const { code, value } = await world.json("redrive", invalid, "--why", "corrected", "--actor", "ana");
  expect([code, value]).toEqual([
    0,
    {
      by: "ledger",
      redriven: [invalid],
      refused: [],
      more: false,
      deadLetters: { removed: 1, others: expect.any(Number), complete: true, error: null },
      actor: "ana",
      why: "corrected",
    },
  ]);
  expect(await stateOf(invalid)).toEqual({ state: "pending", generation: 1 });
  expect(await stateOf(away)).toEqual({ state: "dead", generation: 0 });
  const [attempt] = await world.db
    .sql`SELECT kind, actor, reason FROM owed.attempt WHERE notification_id = ${invalid} ORDER BY id DESC LIMIT 1`;
  expect({ ...attempt }).toEqual({ kind: "redriven", actor: "ana", reason: "corrected" });
  expect(await emptyDeadLetters()).toEqual([away]);
});

test("by id: one that is not dead is named and holds back no other", async () => {
  const missing = "0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001";
  const { code, value } = await world.json("redrive", done, away, missing, away, "--why", "x");
  expect(code).toBe(3);
  expect(value).toMatchObject({
    redriven: [away],
    refused: [
      { id: done, why: "it is delivered, not dead: owed replay --as-new" },
      { id: missing, why: "there is no such notification" },
    ],
  });
  expect((await stateOf(done)).state).toBe("delivered");
  expect((await world.json("redrive", away, "--why", "x")).value).toMatchObject({
    redriven: [],
    refused: [{ id: away, why: expect.stringMatching(/^it is pending, not dead: \S+ redrove it at \S+Z$/) }],
  });
});

test("by filter: those that fit, and no others", async () => {
  const of = ["redrive", "--shipment", shipment];
  expect((await world.json(...of, "--reason", "Nothing", "--why", "x")).value).toMatchObject({
    redriven: [],
    more: false,
  });
  expect((await world.json(...of, "--reason", "ServiceUnavailable", "--why", "x")).value).toMatchObject({
    redriven: [away],
  });
  expect(await stateOf(invalid)).toEqual({ state: "dead", generation: 0 });
  const { out } = await world.owed(...of, "--channel", "email", "--why", "x");
  expect(out).toBe(
    "1 notification owed again: the next sweep publishes it.\nRemoved 1 message from the dead-letter queue.\n",
  );
  expect(await emptyDeadLetters()).toEqual([]);
});

test("a dry run says how many and which, and changes nothing", async () => {
  const { code, value } = await world.json("redrive", "--shipment", shipment, "--dry-run");
  expect([code, value]).toEqual([
    0,
    {
      by: "ledger",
      dryRun: true,
      count: 2,
      reasons: [
        { reason: "InvalidAddress: address has a space", count: 1 },
        { reason: "ServiceUnavailable: try later", count: 1 },
      ],
      moot: [],
      ids: [invalid, away],
      refused: [],
      more: false,
    },
  ]);
  expect((await world.json("redrive", "--all", "--limit", "1", "--dry-run")).value).toMatchObject({
    count: 1,
    more: true,
  });
  const whole = await world.json("redrive", "--dry-run");
  expect(whole.value).toEqual({
    by: "queue",
    queue: "notification",
    dryRun: true,
    messages: 2,
    ids: [invalid, away],
    moot: [],
  });
  const { out } = await world.owed("redrive", invalid, "--dry-run");
  expect(out).toBe(
    `1 notification would be owed again:\n  1 × InvalidAddress: address has a space\n${invalid}\nNothing was changed.\n`,
  );
  expect(await stateOf(invalid)).toEqual({ state: "dead", generation: 0 });
  expect(await emptyDeadLetters()).toEqual([invalid, away].toSorted());
});

test("without ids and filter: SQS's own redrive, to its end, and the ledger keeps who and why", async () => {
  const { code, value } = await world.json("redrive", "--why", "the provider is back", "--actor", "ana");
  expect([code, value]).toEqual([
    0,
    {
      ...{ by: "queue", queue: "notification", status: "COMPLETED", moved: 2, toMove: 2, failure: null },
      ...{ noted: 2, actor: "ana", why: "the provider is back" },
      note: "Noted with 2 dead notifications who did this and why; the ledger decides on each message again.",
    },
  ]);
  const back = await world.sqs.receive(world.queues.notification.url);
  expect(back.map(({ Body = "" }) => JSON.parse(Body).id).toSorted()).toEqual([invalid, away].toSorted());
  for (const message of back) await world.sqs.remove(world.queues.notification.url, message);
  expect(await stateOf(away)).toEqual({ state: "dead", generation: 0 });
  expect((await world.owed("show", away)).out).toMatch(
    /redriven by ana: the provider is back \(by way of SQS, if its message was still there\)$/m,
  );
  expect((await world.owed("show", done)).out).not.toContain("redriven");
  expect(await emptyDeadLetters()).toEqual([]);
});

test("SQS's own redrive is not noted when SQS does not start it, nor with rows that have no message there", async () => {
  const { notification } = world.queues;
  const { deadLetters: queue } = notification;
  const noted = async () => {
    const rows = await world.db.sql<{ id: string }[]>`
      SELECT notification_id AS id FROM owed.attempt WHERE kind = 'redriven' AND actor = 'bea'`;
    return rows.map(({ id }) => id);
  };
  world.queues.notification = { ...notification, deadLetters: { ...queue, arn: `${queue.arn}-gone` } };
  const refused = await world.json("redrive", "--why", "x", "--actor", "bea");
  world.queues.notification = notification;
  expect([refused.code, await noted()]).toEqual([1, []]);
  await world.db
    .sql`UPDATE owed.notification SET stopped_at = stopped_at - interval '15 days' WHERE id = ${invalid}`;
  expect((await world.json("redrive", "--why", "x", "--actor", "bea")).value).toMatchObject({ noted: 1 });
  expect(await noted()).toEqual([away]);
});

test("the dead-letter queue's messages have long expired: by way of the ledger the rows come back all the same", async () => {
  await emptyDeadLetters();
  const whole = await world.owed("redrive", "--why", "at last");
  expect(whole.out).toMatch(
    /moved 0 of 0\.\n.*\nNo message was there: .* come back with --all, or a filter\.\n$/,
  );
  expect((await stateOf(away)).state).toBe("dead");
  const { code, out } = await world.owed("redrive", "--shipment", shipment, "--why", "at last");
  expect([code, out]).toEqual([
    0,
    "2 notifications owed again: the next sweep publishes them.\nRemoved 0 messages from the dead-letter queue.\n",
  ]);
  for (const id of [invalid, away]) expect(await stateOf(id)).toEqual({ state: "pending", generation: 1 });
  expect((await world.json("sweep")).value).toMatchObject({ published: 2 });
  const published = await world.sqs.receive(world.queues.notification.url);
  for (const message of published) await world.sqs.remove(world.queues.notification.url, message);
  expect(published.map(({ Body = "" }) => JSON.parse(Body))).toEqual(
    expect.arrayContaining([
      { id: invalid, generation: 1 },
      { id: away, generation: 1 },
    ]),
  );
});

test("a dead-letter queue that does not answer undoes no redrive", async () => {
  const { notification } = world.queues;
  const { deadLetters: queue } = notification;
  world.queues.notification = { ...notification, deadLetters: { ...queue, url: `${queue.url}-gone` } };
  const { code, out } = await world.owed("redrive", away, "--why", "x");
  const whole = await world.json("redrive", "--dry-run");
  world.queues.notification = notification;
  expect(code).toBe(0);
  expect(out).toMatch(
    /^1 notification owed again: .*\nThe dead-letter queue could not be looked through \(.*\); what is left/,
  );
  expect((await stateOf(away)).state).toBe("pending");
  expect([whole.code, whole.value]).toMatchObject([1, { error: { kind: "unavailable" } }]);
});
