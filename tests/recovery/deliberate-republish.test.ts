import { replay } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { delivered, expectOneEmailEach, readRow, statesAre } from "../support/ledger-rows.ts";
import { depth, type Published, watchPublishes } from "../support/queue.ts";
import { owe } from "../support/shipment.ts";
import { passTime } from "../support/time.ts";

let cloud: Cloud;
let published: Published;
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

/** Publishes one row to a worker whose provider answers with an error, once. Returns the row's id. */
async function failOnce(status: number, code: string, message: string): Promise<string> {
  published = watchPublishes(cloud);
  const mend = cloud.ses.faults.add(() => {
    mend();
    return { error: { status, code, message } };
  });
  cloud.run("deliver");
  await owe(cloud, 1);
  await cloud.sweep();
  return (await readRow(cloud)).id;
}

// All of it happens within SQS's five minutes: passTime moves the ledger's clock, not that of the queue.
// For rescues see lost-messages.test.ts.

test("the replay of a dead row is not swallowed", async () => {
  const id = await failOnce(400, "MessageRejected", "Address blacklisted.");
  // Its message is in nobody's hands any more: a sweep passes over a row that a worker has locked.
  await eventually(async () => expect(await depth(cloud, cloud.queues.notification.deadLetters.url)).toBe(1));
  expect(
    await replay(cloud.ledger, [id], { actor: "ann", why: "the address is mended" }, "replayed"),
  ).toMatchObject({ ids: [id] });
  expect(await cloud.sweep()).toMatchObject({ published: 1 });
  await delivered(cloud, 1);
  await expectOneEmailEach(cloud, 1);
  expect(published.ids).toEqual([`shipment-notif-${id}`, `shipment-notif-${id}.1`]);
});

test.each([
  ["rate", "Maximum sending rate exceeded.", 5, 65],
  ["daily quota", "Daily message quota exceeded.", 15 * 60, 30 * 60],
])(
  "a row throttled by the %s waits in the ledger, at no cost, and its next message is not swallowed",
  async (_, message, least, most) => {
    const id = await failOnce(400, "Throttling", message);
    await statesAre(cloud, { pending: 1 });
    expect(await readRow(cloud)).toMatchObject({ generation: 1, attempts: 0 });
    await passTime(cloud.sql, least - 4);
    expect(await cloud.sweep(), "too early").toMatchObject({ leased: 0 });
    await passTime(cloud.sql, most - least + 5);
    expect(await cloud.sweep()).toMatchObject({ published: 1 });
    await delivered(cloud, 1);
    await expectOneEmailEach(cloud, 1);
    expect(await readRow(cloud)).toMatchObject({ attempts: 1 });
    expect(published.ids).toEqual([`shipment-notif-${id}`, `shipment-notif-${id}.1`]);
  },
);
