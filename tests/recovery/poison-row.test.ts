import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { countStates, delivered, expectOneEmailEach, readRows, statesAre } from "../support/ledger-rows.ts";
import { long } from "../support/long.ts";
import { depth, eventOf, watchPublishes, watchWaits } from "../support/queue.ts";
import { happen, owe, registerShipment, tellEveryUpdate } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

/** More than a sweep leases at a time. */
const many = long ? 2000 : 300;

let cloud: Cloud;
beforeAll(async () => {
  // Rows that die by themselves are meant here: their provider's breaker stays out of it.
  cloud = await startCloud({ settings: { channel: { failures: 1000 }, sweep: { slice: many / 2 } } });
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

test(`two rows that always fail, first of ${many}, hold back nobody`, async () => {
  const rows = many;
  cloud.ses.faults.add(({ to: [to] }) => {
    if (to === "buyer1@example.com")
      return { error: { status: 400, code: "MessageRejected", message: "No." } };
    if (to === "buyer2@example.com")
      return { error: { status: 503, code: "ServiceUnavailable", message: "Later." } };
    return undefined;
  });
  const waits = watchWaits(cloud, "notification");
  await owe(cloud, rows);
  cloud.run("deliver");
  expect(await cloud.sweep()).toMatchObject({ published: rows });
  // All others are done while the second one still waits for its next try.
  await eventually(async () =>
    expect(await countStates(cloud)).toMatchObject({ delivered: rows - 2, dead: 1, queued: 1 }),
  );
  await expectOneEmailEach(cloud, rows - 2);

  // Its receives come and go, and then it is dead as well.
  await eventually(async () => {
    await waits.pass();
    expect(await countStates(cloud)).toEqual({ delivered: rows - 2, dead: 2 });
  });
  const { notification } = cloud.queues;
  await eventually(async () => {
    await waits.pass();
    expect(await depth(cloud, notification.deadLetters.url)).toBe(2);
  });
  expect(await depth(cloud, notification.url)).toBe(0);
});

test("an entry that SQS refuses is owed again soon, and its batch-mates go on", async () => {
  const rows = 30;
  await owe(cloud, rows);
  const [poison] = await readRows(cloud);
  if (!poison) throw new Error("nothing is owed");
  const mend = cloud.sqs.faults.add(({ action }) =>
    action === "SendMessageBatch"
      ? {
          failed: ({ MessageDeduplicationId: id }) =>
            id === `shipment-notif-${poison.id}`
              ? { code: "InternalError", message: "Try again." }
              : undefined,
        }
      : undefined,
  );
  cloud.run("deliver");
  expect(await cloud.sweep()).toMatchObject({ leased: rows, published: rows - 1, failed: 1, unsure: 0 });
  await statesAre(cloud, { delivered: rows - 1, pending: 1 });

  const [owed] = await cloud.sql`
    SELECT extract(epoch FROM owed_at - now())::float8 AS seconds, generation FROM owed.notification WHERE id = ${poison.id}`;
  expect(owed).toMatchObject({ generation: 0 });
  expect(owed?.seconds).toBeGreaterThan(0);
  expect(owed?.seconds).toBeLessThanOrEqual(60);
  mend();
  await passTime(cloud.sql, 61);
  expect(await cloud.sweep()).toMatchObject({ published: 1, failed: 0 });
  await delivered(cloud, rows);
  await expectOneEmailEach(cloud, rows);
});

const statuses = ["picked_up", "customs_hold", "customs_released", "out_for_delivery", "delivered"];

test("later rows of a refused entry's group wait with it, so that their order holds", async () => {
  const shipment = await registerShipment(cloud);
  await tellEveryUpdate(cloud, shipment, statuses);
  await happen(cloud, shipment, "picked_up", 60);
  // One right behind it, and one in a later call than the head's.
  await happen(cloud, shipment, "customs_released", 45);
  await owe(cloud, 12);
  await happen(cloud, shipment, "out_for_delivery", 30);
  const rows = await readRows(cloud);
  const [head, ...followers] = rows
    .filter((row) => row.shipment_id === shipment)
    .map(({ id }) => `shipment-notif-${id}`);
  const mend = cloud.sqs.faults.add(({ action }) =>
    action === "SendMessageBatch"
      ? {
          failed: ({ MessageDeduplicationId: id }) =>
            id === head ? { code: "InternalError", message: "Try again." } : undefined,
        }
      : undefined,
  );
  const published = watchPublishes(cloud);
  expect(await cloud.sweep()).toMatchObject({ leased: 15, published: 12, failed: 1 });
  expect(await countStates(cloud)).toEqual({ queued: 12, pending: 3 });
  mend();
  await passTime(cloud.sql, 61);
  expect(await cloud.sweep()).toMatchObject({ published: 3 });
  expect(published.ids.slice(12).toSorted()).toEqual([head, ...followers].toSorted());
});

test("of a poison head with four followers in one batch only the head dies, after five receives", async () => {
  const shipment = await registerShipment(cloud);
  await tellEveryUpdate(cloud, shipment, statuses);
  for (const [place, status] of statuses.entries()) await happen(cloud, shipment, status, 60 - place);
  await cloud.sweep();
  const rows = await readRows(cloud);
  expect(rows.map(({ status, state }) => [status, state])).toEqual(
    statuses.map((status) => [status, "queued"]),
  );
  const [head, ...followers] = rows;
  if (!head) throw new Error("nothing is owed");

  let calls = 0;
  cloud.ses.faults.add(({ tags }) => {
    calls += 1;
    return tags.notification === head.id
      ? { error: { status: 503, code: "ServiceUnavailable", message: "Later." } }
      : undefined;
  });
  for (const receives of [1, 2, 3, 4, 5]) {
    const now = await readRows(cloud);
    const messages = now.map(({ id, generation, group }) => ({
      ...{ id, generation, group },
      ...(id === head.id ? { messageId: "head", receives } : {}),
    }));
    const answer = await cloud.deliver(eventOf(messages));
    expect(answer.batchItemFailures).toEqual([{ itemIdentifier: "head" }]);
    // The followers go back to the ledger: the next sweep brings them again, under new ids.
    const after = await readRows(cloud);
    expect(after.slice(1).map(({ state, attempts, generation }) => [state, attempts, generation])).toEqual(
      followers.map(() => ["pending", 0, receives]),
    );
    expect(await cloud.sweep()).toMatchObject({ published: followers.length });
  }
  expect(calls).toBe(5);
  expect((await readRows(cloud))[0]).toMatchObject({ state: "dead", attempts: 5 });

  const left = (await readRows(cloud)).slice(1);
  const answer = await cloud.deliver(
    eventOf(left.map(({ id, generation, group }) => ({ id, generation, group }))),
  );
  expect(answer.batchItemFailures).toEqual([]);
  expect(cloud.ses.sent.map((email) => email.tags.notification)).toEqual(followers.map(({ id }) => id));
  await expectOneEmailEach(cloud, followers.length);
});
